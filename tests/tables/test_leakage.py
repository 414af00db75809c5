"""Features that determine a label, and features that look like labels."""

import warnings

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import from_frame
from spmld.tables import TableError, TableWarning
from spmld.tables.roles import copies_of_labels

N = 300
RNG = np.random.default_rng(0)
SAD, CALM = RNG.random(N) < 0.3, RNG.random(N) < 0.6
TEMPO = RNG.normal(100, 20, N)
HALF = RNG.random(N) < 0.5


def table(**features):
    return pd.DataFrame({"tempo": TEMPO, **features, "label_sad": SAD.astype(int), "label_calm": CALM.astype(int)})


def determined(feature, Y=SAD):
    """Return whether a column is a copy of a label."""
    return bool(copies_of_labels(pd.DataFrame({"x": feature}), np.array(Y, dtype=float)[:, None], ["a"]))


COPIES = {
    "equal": SAD.astype(int),
    "negated": ~SAD,
    "words": np.where(SAD, "blue", "red"),
    "a mark and gaps": np.where(SAD, "x", None),
    "a number where it is positive": np.where(SAD, TEMPO, np.nan),
    "gaps in both": np.where(HALF, SAD, np.nan),
    "unknown in both": np.where(HALF, SAD.astype(str), "unknown"),
    "three values": np.where(SAD, "blue", np.where(CALM, "red", "green")),
    "dates": pd.Series(np.where(SAD, "2024-01-31", "2024-02-29")).astype("datetime64[ns]"),
    "lists": [["blue"] if sad else [] for sad in SAD],
}


@pytest.mark.parametrize("name", COPIES)
def test_a_feature_that_determines_a_label_is_an_error(name):
    assert determined(COPIES[name])
    hidden = np.where(np.arange(N) % 5 == 0, np.nan, SAD)
    assert determined(COPIES[name], hidden)
    assert not determined(COPIES[name], np.roll(SAD, 1))
    flipped = SAD.astype(float)
    flipped[np.flatnonzero(SAD & HALF)[0]] = 0  # one sample in which the values differ
    assert not determined(COPIES[name], flipped)


def test_the_error_names_the_column_the_label_and_the_options():
    frame = table(mood=COPIES["words"], calmness=CALM + 1)
    with pytest.raises(TableError) as error:
        from_frame(frame)
    assert str(error.value) == (
        "the table has 2 problems: column 'mood' determines the label sad in all samples, as a copy of the label does "
        "(drop='mood' or keep='mood'); column 'calmness' determines the label calm in all samples, as a copy of the "
        "label does (drop='calmness' or keep='calmness')"
    )
    assert "--drop mood or --keep mood" in error.value.describe()
    data = from_frame(frame, keep=["mood", "calmness"], category="calmness")
    assert (list(data.columns), data.roles.keep) == (["tempo", "mood", "calmness"], ("mood", "calmness"))
    assert list(from_frame(frame, drop=["mood", "calmness"]).columns) == ["tempo"]


def test_a_declared_text_may_name_the_labels():
    frame = table(review=np.where(SAD, "a slow and sad song", "a song"))
    with pytest.raises(TableError, match="column 'review' determines the label sad"):
        from_frame(frame)
    assert "review" in from_frame(frame, text="review").columns


def test_labels_that_are_tags_are_determined_too():
    tags = np.where(SAD, np.where(CALM, "sad, calm", "sad"), np.where(CALM, "calm", "other"))
    frame = pd.DataFrame({"tempo": TEMPO, "mood": COPIES["words"], "tags": tags})
    with pytest.raises(TableError, match="column 'mood' determines the label sad in all samples"):
        from_frame(frame, tags="tags")
    assert from_frame(frame, tags="tags", keep="mood").label_names == ["calm", "other", "sad"]


def test_clean_features_determine_no_label():
    clean = {
        "identifier": np.arange(N),
        "tempo": TEMPO,
        "artist": np.arange(N) // 5,  # artists with five songs of one kind each
        "constant": np.ones(N),
        "empty": np.full(N, np.nan),
        "differs once": np.r_[~SAD[:1], SAD[1:]],
    }
    by_artist = np.arange(N) // 5 % 3 == 0
    assert not any(determined(feature, Y) for feature in clean.values() for Y in (SAD, by_artist))
    for rare in (np.zeros(N), np.ones(N), np.arange(N) < 9, np.arange(N) >= 9, np.full(N, np.nan)):
        assert not determined(rare, rare)
    assert determined(np.arange(N) < 10, np.arange(N) < 10)
    assert from_frame(table(mood=["low", "high"] * 150)).columns["mood"] == "category"


def test_repeated_rows_are_the_same_evidence():
    four = pd.DataFrame({"tempo": [60.5, 80, 120, 99], "label_sad": [1, 0, 1, 0], "label_calm": [1, 1, 0, 0]})
    assert len(from_frame(pd.concat([four] * 30, ignore_index=True)).X) == 120


def test_the_roles_keep_and_drop_contradict_each_other():
    with pytest.raises(TableError, match="column 'mood' has two roles, drop and keep; pass one"):
        from_frame(table(mood="x"), keep="mood", drop="mood")
    with pytest.raises(TableError, match="column 'mod' of keep does not exist; did you mean 'mood'"):
        from_frame(table(mood="x"), keep="mod")


def notes(frame, **roles):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_frame(frame, **roles)
    return [str(warning.message) for warning in caught if issubclass(warning.category, TableWarning)]


def test_features_with_the_values_and_names_of_labels_are_noted():
    moods = pd.DataFrame(RNG.integers(0, 2, (N, 4)), columns=[f"mood {i}" for i in range(4)])
    frame = moods.assign(tempo=TEMPO, explicit=[0, 1] * 150, mood_score=RNG.integers(0, 9, N))
    note = (
        "features that look like the labels mood 0, mood 1, but are not among them: mood 2, mood 3 "
        "(labels=['mood 2', 'mood 3'] or keep=['mood 2', 'mood 3'])"
    )
    assert notes(frame, labels=["mood 0", "mood 1"]) == [note]
    assert notes(frame, labels=["mood 0", "mood 1"], keep=["mood 2", "mood 3"]) == []
    assert notes(frame, labels=list(moods)) == []


def test_a_feature_whose_prefix_has_another_case_is_noted():
    frame = table(Label_loud=RNG.integers(0, 2, N))
    assert notes(frame) == [
        "features that look like the labels label_sad, label_calm, but are not among them: Label_loud "
        "(drop='Label_loud' or keep='Label_loud')"
    ]
