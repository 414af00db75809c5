"""The weights of views minimize the loss of held-out entries; views with trees enter by a race."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from spmld import SelfPacedEnsemble
from spmld.ensemble.costs import tree_costs
from spmld.ensemble.mixture import ViewMixture, stacking_weights
from spmld.metrics import log_loss


def labels_of(log_odds, seed=0):
    """Labels drawn from log-odds."""
    return np.where(np.random.default_rng(seed).random(log_odds.shape) < expit(log_odds), 1, -1).astype(np.int8)


def views_of(n=400, l=5, seed=0):
    """Scores of three views, of which the last knows nothing, and labels."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, n, l))
    signs = labels_of(2 * first + 1.5 * second - np.arange(l) / 2)
    return {"first": first, "second": second, "nothing": rng.normal(size=(n, l))}, signs


def weights_of(views, signs):
    return ViewMixture().fit(views, signs, np.ones(signs.shape)).weights_


def test_the_weights_minimize_the_loss_with_the_barrier():
    rng = np.random.default_rng(0)
    log_odds, positive = rng.normal(size=(4, 500)), rng.random(500) < 0.3
    entry_weight = rng.uniform(0, 2, 500)
    share = entry_weight / entry_weight.sum()

    def objective(w):
        losses = np.logaddexp(0, np.where(positive, -1, 1) * (w @ log_odds))
        return share @ losses - np.log(w).sum() / (100 * 4)

    expected = minimize(
        objective,
        np.full(4, 0.25),
        method="SLSQP",
        bounds=[(1e-9, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    weights = stacking_weights(log_odds, positive, entry_weight, n_samples=100)
    np.testing.assert_allclose(weights, expected.x, atol=1e-4)
    assert objective(weights) <= expected.fun + 1e-12


def test_equal_views_share_the_weight_and_a_bad_view_gets_nearly_none():
    views, signs = views_of(n=2000)
    equal = weights_of({"a": views["first"], "b": views["first"]}, signs)
    np.testing.assert_allclose(list(equal.values()), 0.5)
    weights = weights_of(views, signs)
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["nothing"] < 0.01
    assert weights["first"] > weights["second"] > 0.1


def test_views_that_complement_each_other_predict_better_than_the_best():
    views, signs = views_of(n=2000)
    names = ("first", "second")
    mixture = ViewMixture().fit({name: views[name] for name in names}, signs, np.ones(signs.shape))
    alone = [ViewMixture().fit({name: views[name]}, signs, np.ones(signs.shape)).loss_ for name in names]
    assert mixture.loss_ < min(alone) - 0.01
    assert mixture.loss_ == pytest.approx(log_loss((signs > 0).astype(float), expit(mixture.combine(views))))


def test_scales_of_scores_the_order_of_views_and_missing_entries_do_not_matter():
    views, signs = views_of()
    expected = ViewMixture().fit(views, signs, np.ones(signs.shape))
    scaled = {name: factor * views[name] + 3 for name, factor in (("nothing", 40.0), ("second", 0.01), ("first", 1.0))}
    mixture = ViewMixture().fit(scaled, signs, np.ones(signs.shape))
    np.testing.assert_allclose(mixture.combine(scaled), expected.combine(views), atol=1e-6)
    missing = np.random.default_rng(1).random(signs.shape) < 0.3
    hidden = np.where(missing, 0, signs)
    spoiled = {name: np.where(missing, 1e6, scores) for name, scores in views.items()}
    assert weights_of(spoiled, hidden) == ViewMixture().fit(views, hidden, hidden != 0).weights_


def test_views_without_entries_have_equal_weights():
    views, signs = views_of(n=10)
    np.testing.assert_allclose(list(weights_of(views, 0 * signs).values()), 1 / 3)


def interactions(n, seed=0):
    """Labels that depend on the signs of products, and labels that are linear, of the same features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    products = 3 * np.sign(X[:, [0, 1, 2, 3]]) * np.sign(X[:, [1, 2, 3, 0]])
    return X, (labels_of(products, seed) > 0).astype(float), (labels_of(X @ rng.normal(size=(6, 4)), seed) > 0) * 1.0


def test_views_with_trees_enter_where_they_lower_the_loss():
    X, products, linear = interactions(800)
    model = SelfPacedEnsemble(random_state=0)
    assert model.fit(X, products).view_weights_["label boosting"] > 0.3
    weights = model.fit(X, linear).view_weights_
    assert sum(weights.get(name, 0) for name in ("boosting", "label boosting", "forest")) < 0.2
    assert {"linear", "ridge", "kernel"} <= set(weights) == set(model.estimators_) == set(model.transformers_)


def test_a_view_that_is_predicted_to_cost_too_much_is_not_tried():
    X, products, _ = interactions(300)
    tried = {record["part"] for record in SelfPacedEnsemble(random_state=0).fit(X, products).cv_results_}
    assert {"label boosting", "forest"} <= tried
    model = SelfPacedEnsemble(max_cost=tree_costs(300, 6, 4)["label boosting"], random_state=0).fit(X, products)
    tried = {record["part"] for record in model.cv_results_}
    assert "label boosting" in tried
    assert "forest" not in tried
    named = SelfPacedEnsemble(views=("linear", "label boosting"), max_cost=0, random_state=0).fit(X, products)
    assert set(named.view_weights_) == {"linear", "label boosting"}
