"""Annotations: the store, undo, and the rule that resolves conflicts."""

import random
import sqlite3
from itertools import permutations

import pytest

from spmld.review import Annotation, AnnotationStore
from spmld.review.annotations import resolve


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
                assert resolve(store.annotations()) == resolve(other.annotations())
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
