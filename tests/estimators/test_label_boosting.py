"""Boosted trees of each label: those of scikit-learn on its observed samples, whose contributions add up."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier

from spmld import LabelBoosting, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.inspection import explain
from spmld.labels import hide_labels

DATA = make_planted(300, 6, 3, random_state=0)
X = DATA.X.astype(np.float32).astype(float)
Y = hide_labels(DATA.Y, observed_fraction=0.6, random_state=0)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_scores_are_those_of_scikit_learn_on_the_observed_samples(n_jobs):
    model = LabelBoosting(n_estimators=20, n_jobs=n_jobs).fit(X, Y)
    for j, y in enumerate(Y.T):
        observed = ~np.isnan(y)
        settings = {"max_iter": 20, "max_leaf_nodes": 15, "max_bins": 63, "early_stopping": False}
        expected = HistGradientBoostingClassifier(**settings).fit(X[observed], y[observed])
        # Thresholds between the values of all samples decide in the same way for the observed ones.
        scores = model.decision_function(X[observed])[:, j]
        np.testing.assert_allclose(scores, expected.decision_function(X[observed]), atol=1e-6)


def test_a_label_with_one_observed_class_has_a_constant_score():
    labels = np.where(np.arange(3) == 1, np.nan, Y)
    model = LabelBoosting(n_estimators=5).fit(X, labels)
    assert len(model.trees_[1].roots) == 0
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.5)


def test_sparse_features_are_made_dense_unless_they_are_large():
    dense, sparse = (LabelBoosting(n_estimators=5).fit(features, Y) for features in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(sparse.decision_function(sp.csr_array(X)), dense.decision_function(X))
    with pytest.raises(ValueError, match="X must have at most 100,000,000 values to be made dense for LabelBoosting"):
        LabelBoosting().fit(sp.csr_array((300, 400_000)), Y)


@pytest.mark.parametrize(
    "model", [LabelBoosting(n_estimators=10), SelfPacedEnsemble(views=("label boosting", "ridge"))]
)
def test_contributions_add_up_to_the_scores(model):
    model.fit(X, Y)
    for label in range(3):
        np.testing.assert_allclose(
            explain(model, X[:40], label).scores, model.decision_function(X[:40])[:, label], atol=1e-9
        )
