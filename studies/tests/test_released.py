"""The authors' released code: exact pacing rule, line searches, defaults and order of updates."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import torch
from sklearn.base import clone

from spmld import GLOCAL, SPMLD, SelfPacedClassifier
from spmld.core.descent import DESCENT
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import coverage, ranking_loss, sample_auc
from spmld.pacing import QuantileSchedule
from studies import released as module
from studies.released import (
    RELEASED_DESCENT,
    ReleasedCorrelation,
    ReleasedCoupling,
    ReleasedGLOCAL,
    ReleasedPacing,
    ReleasedSPMLD,
    RowNormRidge,
    released_weights,
)

ESTIMATORS = [ReleasedGLOCAL, ReleasedSPMLD]


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=200, n_features=8, n_labels=6, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.6, random_state=0)
    return planted


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_constructors_have_the_parameters_of_their_base_class(cls):
    base = SPMLD if cls is ReleasedSPMLD else GLOCAL
    assert cls().get_params(deep=False).keys() == base().get_params(deep=False).keys()
    for name in cls().get_params(deep=False):
        mark = object()
        assert getattr(cls(**{name: mark}), name) is mark
    copy = clone(cls(n_components=5))
    assert (copy.n_components, copy.solver) == (5, "descent")
    with pytest.raises(TypeError, match="unexpected keyword"):
        cls(convention="released")


def test_terms_are_those_of_the_released_code(data):
    model = ReleasedSPMLD(n_warmup_iter=0, max_iter=1, random_state=0).fit(data.X, data.hidden)
    terms = model._fitted_objective
    assert isinstance(terms.coupling, ReleasedCoupling)
    assert isinstance(terms.correlation, ReleasedCorrelation)
    assert isinstance(terms.ridge, RowNormRidge)
    paper = SPMLD.paper(n_warmup_iter=0, max_iter=1, tol=None, random_state=0).fit(data.X, data.hidden)
    for name in ("coupling", "correlation", "ridge"):
        assert vars(getattr(terms, name)) == vars(getattr(paper._fitted_objective, name))


def test_line_searches_of_U_and_W_count_the_correlation_twice():
    assert [step.correlation_factor for step in DESCENT] == [1, 1, 1, 1]
    assert [step.correlation_factor for step in RELEASED_DESCENT] == [1, 1, 2, 2]


def test_updates_follow_the_order_of_the_released_code(data, monkeypatch):
    order = []

    class Recorder:
        models_fit = False

        def __init__(self, name):
            self.name = name

        def __call__(self, problem, objective, state, safe=True):
            order.append(self.name)
            return state

    monkeypatch.setattr(module, "RELEASED_DESCENT", tuple(Recorder(name) for name in "ZVUW"))
    ReleasedGLOCAL(n_warmup_iter=2, max_iter=1).fit(data.X, data.hidden)
    assert "".join(order) == "UVWUVWZVUW"


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_torch_descends_as_numpy_does(cls, data):
    """Guessed step lengths amplify rounding differences, so the fits are close but not equal."""
    X, Y = torch.from_numpy(data.X), torch.from_numpy(data.hidden)
    in_torch, in_numpy = (
        cls(n_warmup_iter=2, max_iter=1, random_state=0).fit(*pair) for pair in ((X, Y), (data.X, data.hidden))
    )
    for a, b in zip(in_torch.history_, in_numpy.history_, strict=True):
        assert a["objective"] == pytest.approx(b["objective"], rel=0.01)
    np.testing.assert_allclose(in_torch.decision_function(data.X), in_numpy.decision_function(data.X), atol=0.05)


def test_pacing_does_not_depend_on_the_scale_of_the_losses():
    L = np.random.default_rng(0).random((100, 3)) ** 2
    rule = ReleasedPacing()
    np.testing.assert_allclose(rule.weights(5 + 100 * L, 0.1, 0.3), rule.weights(L, 0.1, 0.3), atol=1e-8)
    assert np.isfinite(rule.weights(np.ones((4, 2)), 0.1, 0.3)).all()


def test_pacing_of_a_tensor_is_that_of_the_array():
    L = np.random.default_rng(0).random((60, 3))
    weights = ReleasedPacing().weights(torch.from_numpy(L), 0.1, 0.2)
    np.testing.assert_allclose(weights.numpy(), ReleasedPacing().weights(L, 0.1, 0.2), atol=1e-12)


def test_pacing_requires_all_losses_and_a_common_threshold(data):
    assert clone(ReleasedPacing()).get_params(deep=False).keys() == {"schedule"}
    with pytest.raises(ValueError, match="'schedule' parameter of ReleasedPacing must have one threshold"):
        SPMLD(pacing=ReleasedPacing(schedule=QuantileSchedule())).fit(data.X, data.hidden)
    with pytest.raises(ValueError, match="ReleasedPacing requires losses of all entries"):
        SelfPacedClassifier(pacing=ReleasedPacing()).fit(data.X, data.hidden)


def test_released_rule_as_a_loop():
    """The rule as the released code computes it, one index at a time."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 15))
        L, lam, gam = rng.random(n), rng.random(), rng.random()
        order = np.argsort(L)
        l = [None, *L[order]]
        k1 = next((j for j in range(1, n + 1) if l[j] >= lam), n)
        s = max([j for j in range(1, n + 1) if l[j] <= lam - gam], default=1)
        r = sum((lam - l[j]) ** 2 for j in range(2, k1))
        q = sum(lam - l[j] for j in range(2, k1))
        c = {k: np.sqrt(complex(k / (gam**2 - r))).real for k in range(1, n + 1)}
        h = [0.0] * (n + 1)
        for k in range(s, k1):
            h[k] = sum(l[1 : k + 1]) - lam * (k + c[1] * q) + gam * np.sqrt(k + r * c[1] ** 2)
        k0 = int(np.argmin(h[1:])) + 1
        p = [1.0 if j <= k0 else c[k0] * (lam - l[j]) if j < k1 else 0.0 for j in range(1, n + 1)]
        expected = np.empty(n)
        expected[order] = p
        np.testing.assert_allclose(released_weights(L, lam, gam), expected, atol=1e-12)


def test_released_rule_equals_the_output_of_the_released_code():
    folder = os.environ.get("SPMLD_DATA")
    files = list(Path(folder).parent.rglob("released_pstep.mat")) if folder else []
    if not files:
        pytest.skip("outputs of the released code (released_pstep.mat) are not beside SPMLD_DATA")
    cases = scipy.io.loadmat(files[0], simplify_cells=True)["cases"]
    assert len(cases) == 24
    for case in cases:
        for L, expected in zip(np.atleast_2d(case["L"]), np.atleast_2d(case["P"]), strict=True):
            weights = released_weights(L, float(case["lambda"]), float(case["gamma"]))
            np.testing.assert_allclose(weights, expected, atol=1e-12)


def test_released_code_is_within_two_standard_deviations_of_the_paper(real):
    data = real("Business")
    model = ReleasedSPMLD(random_state=0).fit(data.X_train, hide_labels(data.Y_train, 0.7, random_state=0))
    scores = model.decision_function(data.X_test)
    for metric, mean, deviation in (
        (ranking_loss, 0.043, 0.0018),
        (sample_auc, 0.958, 0.0029),
        (coverage, 2.347, 0.1625),
    ):
        assert metric(data.Y_test, scores) == pytest.approx(mean, abs=2 * deviation)
