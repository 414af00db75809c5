"""ONNX graphs of ensembles and of all decisions: the scores, probabilities and labels of the model."""

import json

import numpy as np
import onnxruntime
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spmld
from spmld import LabelPrior, MaskedLogistic, MLkNN, SelfPacedEnsemble
from spmld.estimators import FeatureScaler, View
from spmld.model_selection import ThresholdClassifier
from spmld.persistence.ensemble_arrays import KernelView, LinearView, ensemble_arrays
from tests.persistence.cases import X, Y

SPARSE = np.maximum(X - 0.7, 0)  # mostly zeros
DECISIONS = ["f1", "micro_f1", "macro_f1", "sample_f1", 0.3, 2]


def ensemble(**options):
    settings = {"n_landmarks": 30, "Cs": (1.0, 10.0), "alphas": (1.0,), "n_trees": (20, 40)}
    return SelfPacedEnsemble(**settings, random_state=0, **options)


def run(model, path, samples, dtype="float64"):
    spmld.export_onnx(model, path, dtype=dtype)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    metadata = {name: json.loads(text) for name, text in session.get_modelmeta().custom_metadata_map.items()}
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": samples.astype(dtype)}), strict=True)), metadata


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("samples", "options"),
    [
        (X, {}),
        (X, {"views": ("ridge", "linear", "kernel", "latent"), "dependency_weight": 1.0}),
        (X, {"views": ("linear", "boosting")}),
        (X, {"dependency_weight": 0.0}),
        (SPARSE, {}),
        (sp.csr_array(SPARSE), {}),
        (sp.csr_array(X), {}),
    ],
)
def test_the_graph_of_an_ensemble_predicts_as_the_ensemble(samples, options, dtype, tmp_path):
    model = ensemble(**options).fit(samples, Y)
    dense = np.vstack([samples.toarray() if sp.issparse(samples) else samples, np.zeros((1, X.shape[1]))])
    computed, metadata = run(model, tmp_path / "model.onnx", dense, dtype)
    # Graphs evaluate trees in single precision.
    tolerance = 1e-4 if dtype == "float32" else 1e-5 if "boosting" in model.estimators_ else 1e-10
    samples = sp.csr_array(dense) if sp.issparse(samples) else dense
    np.testing.assert_allclose(computed["scores"], model.decision_function(samples), rtol=0, atol=tolerance)
    np.testing.assert_allclose(computed["probabilities"], model.predict_proba(samples), rtol=0, atol=tolerance)
    margins = model.decision_rule_.margins(model.predict_proba(samples))
    sure = np.abs(margins) > tolerance
    assert sure.mean() > 0.95
    np.testing.assert_array_equal(computed["labels"][sure], model.predict(samples)[sure])
    assert metadata["decision"] == "f1"
    assert metadata["label_names"] == [f"y{i}" for i in range(5)]


@pytest.mark.parametrize(
    "model",
    [
        MaskedLogistic(),
        spmld.GLOCAL(random_state=0),
        spmld.PerLabelClassifier(),
        ThresholdClassifier(MaskedLogistic(), decision=0.5, cv=2, random_state=0),
        ensemble(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_features_far_from_zero_keep_their_precision(model, tmp_path):
    samples = (X + 1e4).astype(np.float32)  # the graph and the model get the same numbers
    model.fit(samples.astype(float), Y)
    computed, _ = run(model, tmp_path / "model.onnx", samples, "float32")
    np.testing.assert_allclose(computed["probabilities"], model.predict_proba(samples.astype(float)), rtol=0, atol=5e-6)


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("kind", ["ensemble", "threshold"])
def test_all_decisions_are_exported(decision, kind, tmp_path):
    wrapper = ThresholdClassifier(MaskedLogistic(), decision=decision, cv=2, random_state=0)
    model = (ensemble(decision=decision) if kind == "ensemble" else wrapper).fit(X, Y)
    computed, metadata = run(model, tmp_path / "model.onnx", X)
    np.testing.assert_allclose(computed["probabilities"], model.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(computed["labels"], model.predict(X))
    assert len(np.unique(computed["labels"])) == 2
    if decision in ("micro_f1", "macro_f1", 0.3):
        np.testing.assert_array_equal(computed["scores"] > metadata["thresholds"], computed["labels"] > 0)


def test_equal_probabilities_are_decided_by_the_index(tmp_path):
    model = ThresholdClassifier(LabelPrior(), decision=2, cv=2, random_state=0).fit(X, np.tile(Y[:, :1], 4))
    computed, _ = run(model, tmp_path / "model.onnx", X)
    np.testing.assert_array_equal(computed["labels"], np.tile([1, 1, 0, 0], (len(X), 1)))
    np.testing.assert_array_equal(model.predict(X), computed["labels"])


def test_one_label_and_names(tmp_path):
    model = ensemble().fit(X, Y[:, 0] == 1)
    computed, _ = run(model, tmp_path / "model.onnx", X)
    np.testing.assert_allclose(computed["probabilities"][:, 0], model.predict_proba(X)[:, 1], atol=1e-10)
    np.testing.assert_array_equal(computed["labels"][:, 0], model.predict(X))
    spmld.export_onnx(model, tmp_path / "named.onnx", label_names=["calm"], feature_names=list("abcdefgh"))
    with pytest.raises(ValueError, match="label_names must have 1 names"):
        spmld.export_onnx(model, tmp_path / "model.onnx", label_names=["calm", "sad"])


def test_the_error_names_the_part_that_cannot_be_exported(tmp_path):
    neighbors = View("neighbors", FeatureScaler(), MLkNN())
    with pytest.raises(ValueError, match=r"the view 'neighbors' of the ensemble: .* got MLkNN"):
        spmld.export_onnx(ensemble(views=["linear", neighbors]).fit(X, Y), tmp_path / "model.onnx")
    pipeline = make_pipeline(StandardScaler(), ensemble()).fit(X, Y)
    with pytest.raises(ValueError, match=r"got Pipeline\..* Export the last step of a pipeline, pipeline\[-1\]"):
        spmld.export_onnx(pipeline, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_views_of_an_ensemble_by_their_formulas():
    rng = np.random.default_rng(0)
    samples, factor, coef, intercept = rng.normal(size=(6, 4)), rng.random(4), rng.normal(size=(2, 4)), rng.random(2)
    linear = LinearView(np.zeros(4), factor, coef, intercept)
    landmarks = rng.normal(size=(3, 4))
    landmarks[2] = 0
    kernel = KernelView(np.ones(4), factor, rng.normal(size=(2, 3)), intercept, landmarks, 0.7)
    z = (samples - 1) * factor
    directions = z / np.linalg.norm(z, axis=1, keepdims=True)
    distances = ((directions[:, None] - landmarks) ** 2).sum(axis=2)
    np.testing.assert_allclose(linear.scores(samples), samples * factor @ coef.T + intercept)
    np.testing.assert_allclose(kernel.scores(samples), np.exp(-0.7 * distances) @ kernel.coef.T + intercept)
    for view in (linear, kernel):  # a sample at the means
        np.testing.assert_allclose(view.scores(view.mean[None]), view.base[None])
    plain = KernelView(np.zeros(4), factor, kernel.coef, intercept, landmarks, 0.7)
    sparse = KernelView(np.zeros(4), factor, kernel.coef, intercept, sp.csr_array(landmarks), 0.7)
    with_zero = np.concatenate([samples, np.zeros((1, 4))])
    for view in (linear, sparse):
        assert sp.issparse(view.features(sp.csr_array(with_zero)))
    np.testing.assert_allclose(linear.scores(sp.csr_array(with_zero)), linear.scores(with_zero))
    np.testing.assert_allclose(sparse.scores(sp.csr_array(with_zero)), plain.scores(with_zero))
    np.testing.assert_allclose(plain.scores(with_zero)[-1], plain.base)
    assert not sp.issparse(kernel.features(sp.csr_array(samples)))


def test_a_transformer_without_a_formula_is_named():
    model = ensemble().fit(X, Y)
    name = next(iter(model.transformers_))
    model.transformers_[name] = StandardScaler().fit(X)
    with pytest.raises(ValueError, match=f"got StandardScaler in the view '{name}'"):
        ensemble_arrays(model)
