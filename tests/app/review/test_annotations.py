"""Annotations: the store, undo, and the rule that resolves conflicts."""

import random
import sqlite3
from itertools import permutations

import pytest

from spmld.app.review import Annotation, AnnotationStore
from spmld.app.review.annotations import resolve


def decide(answer, reviewer="ann", key="a1", label="sad"):
    return Annotation(key, label, answer, reviewer)


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        (["present"], "present"),
        (["absent", "unsure", "skip"], "absent"),
        (["present", "absent"], "conflict"),
        (["present", "absent", "unsure"], "conflict"),
        (["present", "absent", "present"], "present"),
        (["unsure", "skip"], "unsure"),
        (["skip"], None),
    ],
)
def test_the_majority_decides_in_any_order(answers, outcome):
    for order in permutations(enumerate(answers)):
        annotations = [decide(answer, f"reviewer {i}") for i, answer in order]
        assert resolve(annotations).get(("a1", "sad")) == outcome


def decide_all(names, answers, n_entries, start=0):
    """Return decisions of several reviewers, each with the same answer to all entries."""
    keys = [f"{''.join(names)} {i}" for i in range(start, start + n_entries)]
    return [decide(answer, name, key) for key in keys for name, answer in zip(names, answers, strict=True)]


def test_two_reviewers_who_disagree_are_a_tie_whatever_else_they_decide():
    for answer in ("present", "absent"):
        agreed = decide_all(["ann", "bob"], [answer, answer], 50)
        alone = [decide(answer, "ann", f"alone {i}") for i in range(30)]
        disputed = decide_all(["ann", "bob"], ["present", "absent"], 10, start=50)
        assert list(resolve([*agreed, *alone, *disputed]).values()) == [answer] * 80 + ["conflict"] * 10


def test_a_reviewer_who_contradicts_the_others_is_outvoted():
    names = ["ann", "bob", "eve"]
    annotations = decide_all(names, ["present", "present", "absent"], 6)
    annotations += decide_all(names, ["absent", "absent", "present"], 4, start=6)
    annotations += decide_all(names, ["present", "present", "present"], 3, start=10)
    annotations += decide_all(["ann", "eve"], ["absent", "present"], 1)  # a tie without the other entries
    annotations += decide_all(["eve"], ["absent"], 5)
    outcomes = resolve(annotations)
    expected = {f"annbobeve {i}": "present" if i < 6 or i > 9 else "absent" for i in range(13)}
    expected |= {"anneve 0": "absent"} | {f"eve {i}": "absent" for i in range(5)}
    assert outcomes == {(key, "sad"): outcome for key, outcome in expected.items()}
    assert set(resolve(annotations[-7:-5]).values()) == {"conflict"}


def test_reliable_reviewers_outvote_a_majority_that_answers_at_random():
    rng, names = random.Random(0), ["ann", "bob", "eve", "dan", "kim"]
    annotations = []
    for i in range(30):
        noise = [rng.choice(["present", "absent"]) for _ in range(3)]
        annotations += decide_all(names, [("present", "absent")[i % 2]] * 2 + noise, 1, start=i)
    outcomes = resolve([*annotations, *decide_all(names, ["present"] * 2 + ["absent"] * 3, 1, start=30)])
    assert [outcomes[(f"annbobevedankim {i}", "sad")] for i in range(31)] == ["present", "absent"] * 15 + ["present"]


def test_unanimous_decisions_are_applied_whoever_makes_them():
    names = ["ann", "bob", "eve", "dan"]
    annotations = decide_all(names, ["present", "present", "absent", "absent"], 9)
    annotations += decide_all(names[:2], ["present", "present"], 20)
    annotations += decide_all(names, ["present", "present", "absent", "present"], 9, start=9)
    outcomes = resolve([*annotations, decide("absent", "eve"), decide("absent", "dan")])
    assert outcomes[("a1", "sad")] == "absent"


def test_the_last_decision_of_a_reviewer_counts():
    assert resolve([decide("present"), decide("absent")]) == {("a1", "sad"): "absent"}
    assert resolve([decide("present"), decide("skip")]) == {}


def test_the_journal_equals_a_list_per_reviewer(tmp_path):
    rng, expected = random.Random(0), {"ann": [], "bob": []}
    with AnnotationStore(tmp_path / "store.sqlite") as store, AnnotationStore(tmp_path / "store.sqlite") as other:
        for step in range(300):
            name, used = rng.choice(["ann", "bob"]), rng.choice([store, other])
            if rng.random() < 0.3:
                undone = used.undo(name)
                assert undone == (expected[name].pop() if expected[name] else None)
            else:
                made = decide(rng.choice(["present", "absent", "unsure", "skip"]), name, f"key {step % 7}")
                used.add(made)
                expected[name].append(made)
            if step % 29 == 0:
                assert resolve(store.annotations()) == other.outcomes() == store.outcomes()
        found = other.annotations()
    for name, annotations in expected.items():
        mine = [annotation for annotation in found if annotation.reviewer == name]
        assert sorted(mine, key=repr) == sorted(annotations, key=repr)


def test_decisions_are_flushed_to_disk(tmp_path):
    with AnnotationStore(tmp_path / "store.sqlite") as store:
        level = store._connection.execute("PRAGMA synchronous").fetchone()
        assert (level, store._connection.execute("PRAGMA journal_mode").fetchone()) == ((2,), ("wal",))
        store.add(decide("present"))
        with sqlite3.connect(tmp_path / "store.sqlite") as reader:
            assert reader.execute("SELECT count(*) FROM annotation").fetchone() == (1,)
        reader.close()


def test_invalid_values(tmp_path):
    with pytest.raises(ValueError, match="answer must be one of present, absent, unsure, skip, got 'yes'"):
        decide("yes")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"table\.csv is not a SQLite file; pass the name of a new file"):
        AnnotationStore(tmp_path / "table.csv")
    with pytest.raises(FileNotFoundError, match=r"folder .*absent does not exist"):
        AnnotationStore(tmp_path / "absent" / "store.sqlite")
