"""NumPy archives of linear predictors have the scores and labels of the model."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

import spmld
from spmld.persistence import linear_predictor
from tests.persistence.cases import LINEAR, X, Y, fitted


def expected(model):
    """Return scores and probabilities, if the model has them, and labels as 0 and 1."""
    predicted = {"labels": model.predict(X)}
    if hasattr(model, "decision_function"):
        predicted["scores"] = model.decision_function(X)
    if hasattr(model, "predict_proba"):
        predicted["probabilities"] = model.predict_proba(X)
    return predicted


@pytest.mark.parametrize("name", LINEAR)
def test_npz_has_the_scores_and_labels(name, tmp_path):
    predicted = expected(fitted(name))
    spmld.export_npz(fitted(name), tmp_path / "model.npz", label_names=list("abcde"))
    with np.load(tmp_path / "model.npz", allow_pickle=False) as arrays:
        scores = X @ arrays["coef"].T + arrays["intercept"]
        assert arrays["label_names"].tolist() == list("abcde")
        assert arrays["feature_names"].tolist() == [f"x{i}" for i in range(8)]
        sure = np.abs(scores - arrays["thresholds"]) > 1e-12
        np.testing.assert_array_equal((scores > arrays["thresholds"])[sure], (predicted["labels"] > 0)[sure])
        if "scores" in predicted:
            np.testing.assert_allclose(scores, predicted["scores"], atol=1e-9)
        if str(arrays["link"]) == "logistic" and "probabilities" in predicted:
            np.testing.assert_allclose(1 / (1 + np.exp(-scores)), predicted["probabilities"], atol=1e-9)


def test_labels_without_a_positive_have_constant_scores(tmp_path):
    Z = Y.copy()
    Z[:, 2] = np.where(np.isnan(Z[:, 2]), np.nan, 0)
    model = spmld.PerLabelClassifier().fit(X, Z)
    np.testing.assert_allclose(linear_predictor(model).intercept[2], model.decision_function(X)[0, 2])
    assert not linear_predictor(model).coef[2].any()


@pytest.mark.parametrize("name", ["MLkNN", "SelfPacedEnsemble"])
def test_the_error_names_the_accepted_models(name, tmp_path):
    with pytest.raises(
        ValueError, match=rf"got {name}\. Accepted: .*MaskedLogistic.* Use spmld\.save for other models"
    ):
        spmld.export_npz(fitted(name), tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "decision_f1",
            r"threshold for each label, got ThresholdClassifier\(decision='f1'\)\. Use decision=\"micro_f1\"",
        ),
        ("decision_2", r"threshold for each label, got ThresholdClassifier\(decision=2\)"),
        ("calibrated_twice", "got a ThresholdClassifier of a model without decision_function"),
    ],
)
def test_the_error_states_why_a_calibrated_model_cannot_be_exported(name, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        spmld.export_npz(fitted(name), tmp_path / "model.npz")


def test_a_model_that_is_not_fitted_raises(tmp_path):
    with pytest.raises(NotFittedError, match="SPMLD instance is not fitted"):
        spmld.export_npz(spmld.SPMLD(), tmp_path / "model.npz")


def test_trees_and_invalid_names_raise(tmp_path):
    forest = spmld.PerLabelClassifier(RandomForestClassifier(2)).fit(X, Y)
    with pytest.raises(ValueError, match="PerLabelClassifier of RandomForestClassifier"):
        spmld.export_npz(forest, tmp_path / "model.npz")
    with pytest.raises(ValueError, match="label_names must have 5 names, one for each label of the model, got 2"):
        spmld.export_npz(fitted("LEML"), tmp_path / "model.npz", label_names=np.array(["a", "b"]))
    with pytest.raises(FileNotFoundError, match="does not exist"):
        spmld.export_npz(fitted("LEML"), tmp_path / "absent" / "model.npz")
