"""Data of a review: roles of columns, labels of the model, verified entries and decisions."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.cli.loading import Source
from spmld.cli.review_data import (
    ReviewData,
    _audit,
    _Fitted,
    _known_tags,
    _predict,
    _with_roles,
    audit_again,
    label_form,
    load_review,
    open_editable,
    open_samples,
)
from spmld.datasets import Dataset, make_planted, write_dataset
from spmld.review.label_forms import TagColumn
from spmld.review.samples import ArraySamples, TableSamples

PLANTED = make_planted(n_samples=120, n_labels=3, random_state=0)
NAMES = ["sad", "calm", "loud"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    frame = pd.DataFrame(PLANTED.X).add_prefix("x").join(pd.DataFrame(PLANTED.Y, columns=NAMES).add_prefix("label_"))
    frame.to_csv(folder / "data.csv", index=False)
    write_dataset(Dataset(PLANTED.X, PLANTED.Y, label_names=NAMES), folder / "data.npz")
    model = spmld.MaskedLogistic().fit(PLANTED.X, PLANTED.Y)
    names = {"label_names": ["loud", "sad", "calm"], "feature_names": [f"x{i}" for i in range(PLANTED.X.shape[1])]}
    spmld.save(model, folder / "model.skops", **names)
    return folder


def source(path, **options):
    return Source(str(path), None, "all", options)


def test_labels_of_the_data_are_found_in_the_model(files):
    fitted = _Fitted(None, "m.skops", SimpleNamespace(label_names=["loud", "sad", "calm"]), None)
    assert fitted.label_order(NAMES) == [1, 2, 0]
    with pytest.raises(ValueError, match=r"--model m\.skops has no label 'fast'; pass the labels of the model"):
        fitted.label_order(["sad", "fast"])
    loaded = load_review(source(files / "data.csv"), str(files / "model.skops"), (), 0, evidence=True)
    expected = spmld.load(files / "model.skops").predict_proba(PLANTED.X)[:, [1, 2, 0]]
    assert list(loaded.data.label_names) == NAMES
    np.testing.assert_allclose(loaded.probabilities.shape, expected.shape)
    assert loaded.evidence is not None
    plain = load_review(source(files / "data.npz"), None, (), 0, evidence=False)
    assert (plain.probabilities, plain.evidence) == (None, None)


def test_roles_of_the_fit_are_used_unless_options_set_them():
    info = SimpleNamespace(summary={"table": {"id": "song", "labels": ("a", "b"), "drop": ["x"]}})
    table = source("data.csv", drop=["y"])
    assert _with_roles(table, info).options == {"id": "song", "labels": ["a", "b"], "drop": ["y"]}
    assert _with_roles(source("data.csv", prefix="p_"), info).options == {"id": "song", "drop": ["x"], "prefix": "p_"}
    assert _with_roles(source("data.npz"), info).options == {}


def test_tags_that_the_model_does_not_have_are_not_reviewed(capsys):
    data = Dataset(PLANTED.X, PLANTED.Y, label_names=NAMES, trusted=PLANTED.Y > 0)
    assert _known_tags(data, ["sad"]) is data  # columns of labels
    tags = replace(data, roles=SimpleNamespace(tags="tags", tag_case="merge"))
    assert list(_known_tags(tags, NAMES).label_names) == NAMES
    assert list(_known_tags(tags, ["Sad", "CALM", "loud"]).label_names) == ["Sad", "CALM", "loud"]  # its spelling
    kept = _known_tags(tags, ["loud", "sad"])
    assert list(kept.label_names) == ["sad", "loud"]
    np.testing.assert_array_equal(kept.Y, PLANTED.Y[:, [0, 2]])
    np.testing.assert_array_equal(kept.trusted, (PLANTED.Y > 0)[:, [0, 2]])
    assert "1 tags are not labels of the model and are not reviewed: calm" in capsys.readouterr().err


def test_verified_entries_are_not_errors_and_decisions_change_the_audit():
    data = Dataset(PLANTED.X, PLANTED.Y, label_names=NAMES)
    issues = _audit(data, 0)
    verified = np.arange(120) < 40
    trusted = _audit(replace(data, trusted=np.repeat(verified[:, None], 3, axis=1)), 0)
    assert (trusted.error_log_odds[:40] == -np.inf).all()
    np.testing.assert_array_equal(trusted.error_log_odds[40:], issues.error_log_odds[40:])
    keys = [f"k{i}" for i in range(120)]
    given = PLANTED.Y[3, 1]
    outcomes = {("k3", "calm"): "absent" if given else "present", ("k4", "calm"): "unsure", ("other", "calm"): "absent"}
    again = audit_again(ReviewData(None, data, issues, None, None), outcomes, keys, 0)
    changed = np.argwhere(again.signs != issues.signs)
    np.testing.assert_array_equal(changed, [[3, 1]])


def test_samples_are_rows_of_a_table_or_features(files):
    table = source(files / "data.csv")
    data = table.load_part(5)
    assert isinstance(open_samples(table, data), TableSamples)
    with pytest.raises(ValueError, match="has 120 records, but 100 samples were read"):
        open_editable(table, 100)
    arrays = source(files / "data.npz")
    assert open_editable(arrays, 120) is None
    assert isinstance(open_samples(arrays, arrays.load_part(5)), ArraySamples)
    with pytest.raises(ValueError, match="--image needs a table"):
        open_samples(arrays, data, image="cover")
    roles = SimpleNamespace(tags="tags", tag_sep=None, untagged="negative", empty_is="missing", tag_case="merge")
    form = label_form(table, open_editable(table, 120), roles, NAMES, data.Y)
    assert isinstance(form, TagColumn)


def test_a_model_without_probabilities_is_named(files, monkeypatch):
    info = spmld.model_info(files / "model.skops")
    monkeypatch.setattr("spmld.cli.review_data.predict_all", lambda model, X: SimpleNamespace(probabilities=None))
    with pytest.raises(ValueError, match=r"--model must predict probabilities, but m\.skops contains MaskedLogistic"):
        _predict(source(files / "data.csv"), "m.skops", object(), info)
    monkeypatch.undo()
    estimator = spmld.load(files / "model.skops")
    completed = _predict(source(files / "data.csv"), "m.skops", estimator, info).probabilities
    assert ((completed >= 0) & (completed <= 1)).all()
