"""Evidence: influences agree with their definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld.app.review.evidence import Evidence
from spmld.inspection import explain, top_features


@pytest.fixture(params=["dense", "sparse"])
def case(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.4)
    X[:, 0] += 0.1
    signs = rng.integers(-1, 2, size=(60, 3))
    return (X if request.param == "dense" else sp.csr_array(X)), X, signs


def test_influences_add_up_to_the_difference_from_the_score_of_the_median(case):
    X, dense, signs = case
    model = MaskedLogistic(C=1.0).fit(X, np.where(signs != 0, signs, np.nan))
    coef, evidence = model.coef_, Evidence(X, signs, list("abcdefgh"), model)
    for sample in range(5):
        influences = [influence for _, _, influence in evidence.describe(3 * sample + 1, top=8)["influences"]]
        median = 0 if sp.issparse(X) else np.median(dense, axis=0)
        expected = coef[1] @ (dense[sample] - median)
        assert sum(influences) == pytest.approx(expected)
        sizes = list(map(abs, influences))
        assert sizes == sorted(sizes, reverse=True)


def test_the_default_model_finds_the_planted_feature_and_ignores_entries_of_weight_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    signs = np.where(X[:, [3]] > 0, 1, -1)
    wrong = rng.random(300) < 0.3
    noisy = np.where(wrong[:, None], -1, signs)
    for labels in (noisy, np.where(wrong[:, None], 1, signs)):
        evidence = Evidence(X, labels, list("abcde"), entry_weight=(~wrong[:, None]).astype(float))
        top = [evidence.describe(int(i))["influences"][0] for i in np.argsort(-np.abs(X[:, 3]))[:20]]
        assert {feature for feature, _, _ in top} == {"d"}
        assert all((influence > 0) == (value > 0) for _, value, influence in top)


def test_evidence_of_a_model_is_its_explanation_with_labels_and_features_of_the_model(case):
    X, _, signs = case
    Y = np.where(signs != 0, signs, np.nan)
    model = SelfPacedEnsemble(views=("ridge", "linear"), Cs=(1.0,), alphas=(1.0,), random_state=0).fit(
        X, Y[:, [2, 0, 1]]
    )  # labels in another order
    evidence = Evidence(X[:, :2], signs, ["a", "b"], model, X, [1, 2, 0])
    for label, j in enumerate((1, 2, 0)):
        explanation = explain(model, X, j)
        contributions = explanation.contributions
        typical = 0 if sp.issparse(contributions) else np.median(contributions, axis=0)
        dense = contributions.toarray() if sp.issparse(contributions) else contributions
        described = evidence.describe(3 * 5 + label, top=8)
        influences = {feature: influence for feature, _, influence in described["influences"]}
        expected = dict(zip(explanation.feature_names, dense[5] - typical, strict=True))
        assert influences == pytest.approx({name: value for name, value in expected.items() if value != 0})
        table = top_features(model, X, labels=[j]).table()
        assert [", ".join(described[name]) or "-" for name in ("raising", "lowering")] == table.rows[0][1:]


def test_a_model_that_cannot_be_explained_is_replaced(case):
    X, _, signs = case
    evidence = Evidence(X, signs, list("abcdefgh"), model=object())
    assert evidence.describe(10) == Evidence(X, signs, list("abcdefgh")).describe(10)
