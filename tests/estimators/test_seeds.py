"""Random seeds: each random part of an ensemble has its own, and a fit is reproducible."""

import numpy as np

from spmld import SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.ensemble import ensemble as ensemble_module
from spmld.ensemble import noise_scores
from spmld.ensemble.views import make_views

DATA = make_planted(n_samples=80, n_labels=3, random_state=0)
TREES = {"views": ("linear", "boosting"), "n_trees": (5,), "completion": "boosting", "keep_data": True}


def fitted(seed):
    return SelfPacedEnsemble(**TREES, random_state=seed).fit(DATA.X[:60], DATA.Y[:60])


def seeds_of(model):
    return model.estimators_["boosting"].random_state, model.correction_.completion_trees_.random_state


def test_the_trees_of_a_view_and_of_the_completion_have_seeds_of_their_own():
    model, again = fitted(0), fitted(0)
    boosting, completion = seeds_of(model)
    assert boosting != completion
    assert seeds_of(again) == seeds_of(model)
    np.testing.assert_array_equal(
        again.complete(DATA.X, DATA.Y).confidences, model.complete(DATA.X, DATA.Y).confidences
    )
    model.update(DATA.X[60:], DATA.Y[60:])
    assert seeds_of(model) == (boosting, completion)


def test_the_views_with_trees_have_seeds_of_their_own():
    rng = np.random.RandomState(0)
    views = make_views(("linear", "boosting", "forest", "latent"), (1.0,), (1.0,), (5,), 0.0, 10)
    seeds = [view.with_seed(rng).estimator.get_params().get("random_state") for view in views.values()]
    assert seeds[0] is None
    assert len(set(seeds)) == 4


def test_the_trees_of_the_noise_estimate_have_a_seed_of_their_own(monkeypatch):
    seeds, fit_noise_scores = [], noise_scores.fit_noise_scores

    def record(*args, boosting, **options):
        seeds.extend(trees.random_state for trees in boosting)
        return fit_noise_scores(*args, boosting=boosting, **options)

    monkeypatch.setattr(noise_scores, "fit_noise_scores", record)
    monkeypatch.setattr(ensemble_module, "on_accelerator", lambda _: True)  # without the view "boosting"
    model = SelfPacedEnsemble(random_state=0).fit(DATA.X, DATA.Y)
    assert sorted(model.estimators_) == ["kernel", "linear", "ridge"]
    assert len(set(seeds)) == 1
    assert seeds[0] != model.correction_.random_state
    assert seeds[0] != np.random.RandomState(0).randint(2**31 - 1)  # the first number, which others would draw, too
