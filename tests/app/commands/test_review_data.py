"""Data of a review: roles of columns, labels of the model, verified entries and decisions."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.app.commands.loading import Source
from spmld.app.commands.review_data import (
    ReviewData,
    _model_columns,
    _probabilities,
    _with_roles,
    audit_again,
    label_form,
    load_review,
    open_editable,
    open_samples,
)
from spmld.app.review import make_queue
from spmld.app.review.applying import TagColumn
from spmld.app.review.queue import MIN_PRIORITY
from spmld.audit import find_label_issues
from spmld.datasets import Dataset, make_planted, write_dataset
from spmld.tables import TableRoles

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


def test_probabilities_of_a_model_are_in_the_order_of_the_data(files):
    loaded = load_review(source(files / "data.csv"), str(files / "model.skops"), (), 0, evidence=True)
    assert list(loaded.data.label_names) == NAMES
    assert loaded.evidence is not None
    plain = load_review(source(files / "data.npz"), None, (), 0, evidence=False)
    assert (plain.probabilities, plain.evidence) == (None, None)
    columns = _model_columns(["Sad", "calm", "new"], ["loud", "sad", "calm"])
    completion = SimpleNamespace(labels=np.array([[1, 0, 1]]), confidences=np.array([[0.9, 0.8, 0.7]]))
    np.testing.assert_allclose(_probabilities(completion, columns), [[0.2, 0.7, np.nan]])


def test_a_floor_does_not_fill_the_queue_with_missing_entries(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    Y = np.where(8 * X[:, :3] - 10 + rng.logistic(size=(1000, 3)) > 0, 1.0, 0.0)
    Y[rng.random(Y.shape) < 0.08] = 1  # positives that the features do not show
    observed = np.where(rng.random(Y.shape) < 0.7, Y, np.nan)
    model = spmld.SelfPacedEnsemble(random_state=0, n_trees=[20]).fit(X, observed)
    assert model.likelihood_rates_.alpha.min() > 0.04
    write_dataset(Dataset(X, observed, label_names=NAMES), tmp_path / "data.npz")
    spmld.save(model, tmp_path / "model.skops", label_names=NAMES)
    loaded = load_review(source(tmp_path / "data.npz"), str(tmp_path / "model.skops"), (), 0, evidence=False)
    queue = make_queue(loaded.issues, loaded.probabilities, kinds=["missing"])
    n_missing = np.isnan(observed).sum()
    assert (model.predict_proba(X) > MIN_PRIORITY).all()
    assert len(queue) < 0.5 * n_missing
    unclear = np.abs(8 * X[:, :3] - 10).ravel()[queue.index] < 4
    assert unclear[:50].mean() > 0.9


def test_roles_of_the_fit_are_used_unless_options_set_them():
    info = SimpleNamespace(summary={"table": {"id": "song", "labels": ("a", "b"), "drop": ["x"]}})
    table = source("data.csv", drop=["y"])
    assert _with_roles(table, info).options == {"id": "song", "labels": ["a", "b"], "drop": ["y"]}
    assert _with_roles(source("data.csv", prefix="p_"), info).options == {"id": "song", "drop": ["x"], "prefix": "p_"}
    assert _with_roles(source("data.npz"), info).options == {}


def test_decisions_change_the_audit():
    data = Dataset(PLANTED.X, PLANTED.Y, label_names=NAMES)
    issues = find_label_issues(None, data.X, data.Y, random_state=0, label_names=NAMES)
    keys = [f"k{i}" for i in range(120)]
    given = PLANTED.Y[3, 1]
    outcomes = {("k3", "calm"): "absent" if given else "present", ("k4", "calm"): "unsure", ("other", "calm"): "absent"}
    again = audit_again(ReviewData(None, data, issues, None, None), outcomes, keys, 0)
    np.testing.assert_array_equal(np.argwhere(again.signs != issues.signs), [[3, 1]])


def test_samples_are_rows_of_a_table(files):
    table = source(files / "data.csv")
    data = table.load_part(5)
    assert len(open_samples(table, data).keys) == 120
    with pytest.raises(ValueError, match="has 120 records, but 100 samples were read"):
        open_editable(table, 100)
    roles = TableRoles(tags="tags")
    form = label_form(open_editable(table, 120), roles, NAMES, data.Y)
    assert isinstance(form, TagColumn)
