"""Contributions add up to scores, equal numerical integrals of gradients, and find planted features."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

import spmld
from spmld import LabelPrior, MaskedLogistic, PerLabelClassifier, SelfPacedEnsemble
from spmld.ensemble import View
from spmld.estimators import FeatureScaler, ThresholdClassifier
from spmld.inspection import explain, top_features
from spmld.inspection.contributions import KernelPart, explained_model
from spmld.model_selection import MultilabelStratifiedKFold
from tests.export.cases import LINEAR, X, Y, fitted

SPARSE = np.maximum(X - 0.7, 0)  # mostly zeros
ALL_VIEWS = ("ridge", "linear", "kernel", "boosting", "latent")


def ensemble(**options):
    settings = {"n_landmarks": 30, "Cs": (3.0,), "alphas": (1.0,), "n_trees": (20,)}
    return SelfPacedEnsemble(**settings, random_state=0, **options)


@pytest.mark.parametrize(
    ("samples", "options"),
    [
        (X, {"dependency_weight": 0.0}),
        *((samples, {"dependency_weight": 1.0, "views": ALL_VIEWS}) for samples in (X, sp.csr_matrix(SPARSE))),
        *((samples, {}) for samples in (SPARSE, sp.csr_array(SPARSE), sp.csr_array(X))),
    ],
)
def test_contributions_of_the_ensemble_add_up_to_its_scores(samples, options):
    model = ensemble(**options).fit(samples, Y)
    for label in range(Y.shape[1]):
        explanation = explain(model, samples[:50], label)
        np.testing.assert_allclose(explanation.scores, model.decision_function(samples[:50])[:, label], atol=1e-9)


@pytest.mark.parametrize("name", LINEAR)
def test_contributions_of_linear_models_add_up_to_their_scores(name):
    model = fitted(name)
    for label in (0, 4):
        explanation = explain(model, X, label)
        if hasattr(model, "decision_function"):
            np.testing.assert_allclose(explanation.scores, model.decision_function(X)[:, label], atol=1e-8)
        else:
            np.testing.assert_allclose(
                1 / (1 + np.exp(-explanation.scores)), model.predict_proba(X)[:, label], atol=1e-9
            )


def test_contributions_of_calibrated_models_add_up_to_log_odds():
    model = ThresholdClassifier(MaskedLogistic(), cv=2, random_state=0).fit(X, Y)
    scores = explain(model, X, 1).scores
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), model.predict_proba(X)[:, 1], atol=1e-9)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 50.0])
def test_kernel_contributions_are_the_integrals_of_gradients(gamma):
    rng = np.random.default_rng(0)
    landmarks = rng.normal(size=(6, 3))
    landmarks /= np.linalg.norm(landmarks, axis=1, keepdims=True)
    landmarks[0] = 0  # a sample without features
    view = KernelPart(rng.normal(size=(2, 6)), np.zeros(2), landmarks, gamma)
    samples, weights = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    samples[3] = 0
    samples = normalize(samples)
    contributions = view.contributions(samples, weights)
    times = (np.arange(4000) + 0.5)[:, None] / 4000
    for i, x in enumerate(samples):
        for d in range(3):
            step = 1e-5 * np.eye(3)[d]
            change = rbf_kernel(times * x + step, landmarks, gamma) - rbf_kernel(times * x - step, landmarks, gamma)
            integral = x[d] * np.mean(change @ view.coef.T @ weights[i]) / 2e-5
            assert contributions[i, d] == pytest.approx(integral, abs=1e-5)
    np.testing.assert_allclose(view.contributions(sp.csr_array(samples), weights).toarray(), contributions)


def test_the_correction_contributes_what_it_changes():
    """Without the correction, contributions are those of the views; the rest is the change by the other labels."""
    model = ensemble(dependency_weight=1.0).fit(X, Y)
    explained = explained_model(model)
    s, base, formula = model.formula_.mixture(X), explained.base, model.formula_.correction
    total = explained.contributions(X, 2).sum(axis=1)
    own = formula.own[2] * (s - base)[:, 2]
    others = (1 / (1 + np.exp(-s)) - 1 / (1 + np.exp(-base))) @ formula.others[:, 2]
    assert np.abs(others).max() > 1e-3
    np.testing.assert_allclose(total, own + others, atol=1e-10)


def test_permuted_features_permute_the_contributions_and_unused_features_contribute_nothing():
    order = np.random.default_rng(0).permutation(X.shape[1])
    samples = np.column_stack([X, np.ones(len(X))])
    model = ensemble().fit(samples, Y)
    contributions = explain(model, samples, 0).contributions
    np.testing.assert_array_equal(contributions[:, -1], 0)
    views = ("linear", "ridge", "kernel")  # trees draw features by position
    permuted = ensemble(views=views).fit(X[:, order], Y)
    expected = explain(ensemble(views=views).fit(X, Y), X, 0).contributions[:, order]
    np.testing.assert_allclose(explain(permuted, X[:, order], 0).contributions, expected, atol=1e-4)


def test_coefficients_of_linear_models_are_their_coefficients():
    model = fitted("MaskedLogistic")
    for samples, dense in ((X, X), (sp.csr_array(SPARSE), SPARSE)):
        top = top_features(model, samples)
        np.testing.assert_allclose(top.coefficients, model.coef_, atol=1e-9)
        deviation = np.abs(dense - dense.mean(axis=0)).mean(axis=0)
        np.testing.assert_allclose(top.importances, np.abs(model.coef_) * deviation, atol=1e-12)


def test_a_word_in_all_texts_is_not_important():
    texts, tags = ["the rain", "the sun"] * 20, [[1], [1], [1], [0]] * 10
    model = make_pipeline(TfidfVectorizer(), MaskedLogistic(fit_intercept=False)).fit(texts, tags)
    top = top_features(model, texts)
    the = top.feature_names.index("the")
    assert top.coefficients[0, the] > 0.1
    assert top.importances[0, the] < 1e-9 < top.importances.max()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("estimator", [ensemble(), ensemble(views=("kernel",)), MaskedLogistic()])
def test_planted_features_are_found(estimator, kind):
    rng = np.random.default_rng(0)
    samples = np.maximum(rng.normal(size=(400, 12)) - (0.7 if kind is sp.csr_array else -5), 0)
    centered = samples - np.median(samples, axis=0)
    truth = np.column_stack([centered[:, 3] > 0, centered[:, 7] <= 0])
    labels = np.where(rng.random(truth.shape) < 0.4, np.nan, truth)
    samples = kind(samples)
    top = top_features(estimator.fit(samples, labels), samples)
    np.testing.assert_array_equal(np.argmax(top.importances, axis=1), [3, 7])
    assert top.coefficients[0, 3] > 0 > top.coefficients[1, 7]


@pytest.fixture(scope="module")
def songs():
    rng = np.random.default_rng(0)
    words = {"calm": ["slow", "night"], "lively": ["fast", "dance"]}
    other = [f"word{i}" for i in range(30)]
    tags = pd.DataFrame(rng.random((240, 2)) < 0.5, columns=list(words)).astype(float)
    texts = [
        " ".join([*rng.choice(other, 4), *(rng.choice(words[name]) for name in words if row[name])])
        for _, row in tags.iterrows()
    ]
    return texts, tags.mask(rng.random(tags.shape) < 0.3)


def test_the_words_of_a_text_pipeline_are_named(songs):
    texts, tags = songs
    model = make_pipeline(TfidfVectorizer(), ensemble()).fit(texts, tags)
    explanation = explain(model, ["slow dance word3", "word1 word2"], "calm")
    assert explanation.label == "calm"
    assert explanation.top(0, 1)[0][0] == "slow"
    assert {name for name, value, _ in explanation.top(1) if value} <= {"word1", "word2"}
    np.testing.assert_allclose(
        explanation.scores, model.decision_function(["slow dance word3", "word1 word2"])[:, 0], atol=1e-9
    )
    top = top_features(model, texts)
    frame = top.to_frame(2)
    assert set(frame.query("label == 'calm'").feature) == {"slow", "night"}
    assert set(frame.query("label == 'lively'").feature) == {"fast", "dance"}
    assert str(top).splitlines()[0].split("  ")[0] == "label"
    assert "calm" in str(top)


def test_frames_texts_and_names(songs):
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])], index=[f"s{i}" for i in range(len(X))])
    labels = pd.DataFrame(Y, columns=list("abcde"), index=frame.index)
    model = make_pipeline(StandardScaler(), MaskedLogistic()).fit(frame, labels)
    search = GridSearchCV(model, {"maskedlogistic__C": [1.0]}, cv=MultilabelStratifiedKFold(2)).fit(frame, labels)
    for fitted_model in (model, search):
        explanation = spmld.explain(fitted_model, frame[:2], "b")
        long = explanation.to_frame(n=None)
        assert list(long.columns) == ["sample", "feature", "value", "contribution"]
        sums = long.groupby("sample").contribution.sum() + explanation.base_value
        np.testing.assert_allclose(sums[["s0", "s1"]], fitted_model.decision_function(frame[:2])[:, 1])
        assert "b, sample s0: score" in str(explanation)
        assert set(long.feature) == set(frame.columns)
    assert "and 3 more samples" in str(explain(model, frame[:8], 0))
    hashed = make_pipeline(HashingVectorizer(n_features=16), MaskedLogistic()).fit(*songs)
    assert explain(hashed, songs[0][:1], 0).feature_names[0] == "x0"
    names = [f"hash {i}" for i in range(16)]
    assert spmld.top_features(hashed, songs[0], labels=["calm"], feature_names=names).feature_names == names


def test_models_and_arguments_that_cannot_be_explained_raise():
    model = LabelPrior().fit(X, Y)
    with pytest.raises(ValueError, match=r"X must have shape \(n_samples, 8\)"):
        explain(model, X[:, :3], 0)
    with pytest.raises(ValueError, match="feature_names must have 8 names"):
        explain(model, X, 0, feature_names=["a"])
    with pytest.raises(
        ValueError,
        match="must be linear, MaskedBoosting, LabelBoosting or MaskedForest, got a PerLabelClassifier of GaussianNB",
    ):
        explain(PerLabelClassifier(GaussianNB()).fit(X, Y), X, 0)
    bayes = View("bayes", FeatureScaler(), PerLabelClassifier(GaussianNB()))
    with pytest.raises(ValueError, match="the view 'bayes' of the ensemble: the model must be linear"):
        explain(ensemble(views=["linear", bayes]).fit(X, Y), X, 0)
    scaled = View("scaled", StandardScaler(), MaskedLogistic())
    with pytest.raises(ValueError, match="got StandardScaler in the view 'scaled'"):
        explained_model(ensemble(views=[scaled]).fit(X, Y))
