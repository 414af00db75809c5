"""Tables of explanations and of top features: what they list, and what they leave out."""

import numpy as np
import pandas as pd
import pytest

from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld.inspection import TopFeatures, explain, top_features
from tests.export.cases import X, Y


def test_coefficients_are_slopes_of_the_score_for_features_with_any_mean():
    model = SelfPacedEnsemble(views=("linear",), dependency_weight=0.0, random_state=0).fit(X + 5, Y)
    coefficients = top_features(model, X + 5).coefficients
    scores = model.decision_function(X[:3] + 5)
    for j in range(X.shape[1]):
        moved = model.decision_function(X[:3] + 5 + np.eye(X.shape[1])[j])
        np.testing.assert_allclose(moved - scores, np.tile(coefficients[:, j], (3, 1)), atol=1e-8)


def test_features_of_little_importance_are_left_out():
    importances, coefficients = np.array([[4.0, 1.0, 0.3, 0.0]]), np.array([[2.0, -1.0, 5.0, 0.0]])
    top = TopFeatures(["sad"], ["slow", "fast", "rare", "never"], importances, coefficients)
    assert top.table().rows == [["sad", "slow", "fast"]]  # the importance of "rare" is below a tenth of the largest
    assert top.to_frame(4)["feature"].tolist() == ["slow", "fast", "rare"]
    assert top.to_frame(1)["feature"].tolist() == ["slow"]
    nothing = TopFeatures(["sad"], ["slow"], np.zeros((1, 1)), np.zeros((1, 1)))
    assert (len(nothing.to_frame()), nothing.table().rows) == (0, [["sad", "-", "-"]])


def test_samples_have_the_names_of_the_index():
    frame = pd.DataFrame(X).add_prefix("x").set_axis([f"song {i}" for i in range(len(X))])
    model = MaskedLogistic().fit(frame, Y)
    explanation = explain(model, frame[5:15], 0)
    assert list(explanation.samples) == [f"song {i}" for i in range(5, 15)]
    assert set(explanation.to_frame(1)["sample"]) == set(explanation.samples)
    assert "sample song 5: score" in str(explanation)
    shown = str(explanation).count(": score")
    assert str(explanation).endswith(f"and {10 - shown} more samples")
    assert "more samples" not in str(explain(model, frame[:1], 0))


def test_only_features_that_contribute_are_listed():
    model = MaskedLogistic().fit(X, Y)
    sample = np.zeros((1, X.shape[1]))
    sample[0, 2] = 3.0
    assert explain(model, sample, 0).top(n=None) == [("x2", 3.0, pytest.approx(3 * model.coef_[0, 2]))]


@pytest.mark.parametrize("label", [-1, Y.shape[1], "unknown"])
def test_unknown_labels_raise(label):
    with pytest.raises(ValueError, match=f"label must be the name of a label or an index from 0 to {Y.shape[1] - 1}"):
        explain(MaskedLogistic().fit(X, Y), X[:1], label)
