"""Hierarchies: closure of labels, and the isotonic projection as a quadratic program."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls

from spmld.labels import Hierarchy, LabelWarning, read_labels
from spmld.labels.hierarchy import inference_weights


def random_hierarchy(rng, n_labels, density, *, tree=False):
    """Return a random hierarchy of the labels 0, 1, ... and its edges."""
    names = [int(name) for name in rng.permutation(n_labels)]
    pairs = [(names[i], names[j]) for i in range(n_labels) for j in range(i + 1, n_labels) if rng.random() < density]
    edges = list({child: (parent, child) for parent, child in pairs}.values()) if tree else pairs
    return Hierarchy(edges), edges


def quadratic_program(values, edges, weights):
    """Return the projection by its dual problem, non-negative least squares."""
    D = np.zeros((len(edges), len(values)))
    for k, (parent, child) in enumerate(edges):
        D[k, child], D[k, parent] = 1, -1
    multipliers, _ = nnls((D / np.sqrt(weights)).T, np.sqrt(weights) * values, maxiter=1000)
    return values - D.T @ multipliers / weights


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_projection_solves_the_quadratic_program(tree, seed):
    rng = np.random.default_rng(seed)
    hierarchy, edges = random_hierarchy(rng, 8, 0.4, tree=tree)
    values, weights = rng.normal(size=(6, 8)), rng.uniform(0.1, 2, size=8)
    projected = hierarchy.project(values, weights=weights)
    assert all((projected[:, child] <= projected[:, parent]).all() for parent, child in edges)
    expected = [quadratic_program(row, edges, weights) for row in values]
    assert np.allclose(projected, expected, atol=1e-6)


@pytest.mark.parametrize("tree", [True, False])
def test_the_projection_is_idempotent_and_keeps_coherent_samples(tree):
    rng = np.random.default_rng(0)
    hierarchy, _ = random_hierarchy(rng, 30, 0.1, tree=tree)
    values = rng.random((50, 30))
    projected = hierarchy.project(values)
    assert (projected != values).any(axis=1).all()
    assert (hierarchy.project(projected) == projected).all()


def test_permuting_labels_permutes_the_projection():
    rng = np.random.default_rng(0)
    hierarchy, _ = random_hierarchy(rng, 12, 0.2)
    values, weights, order = rng.random((20, 12)), rng.uniform(0.5, 2, size=12), rng.permutation(12)
    permuted = hierarchy.project(values[:, order], names=order.tolist(), weights=weights[order])
    assert np.allclose(permuted, hierarchy.project(values, weights=weights)[:, order], atol=1e-8)


def test_pooled_blocks_keep_their_weighted_sums():
    rng = np.random.default_rng(0)
    hierarchy, _ = random_hierarchy(rng, 15, 0.3, tree=True)
    values, weights = rng.random((40, 15)), rng.uniform(0.5, 2, size=15)
    for row, projected in zip(values, hierarchy.project(values, weights=weights), strict=True):
        for value in np.unique(projected):
            block = projected == value
            assert np.isclose((weights * row)[block].sum(), value * weights[block].sum())


def test_inference_is_idempotent_coherent_and_keeps_what_it_does_not_contradict():
    rng = np.random.default_rng(0)
    hierarchy, edges = random_hierarchy(rng, 10, 0.2)
    truth = (hierarchy.project(rng.normal(size=(60, 10))) > 0).astype(float)
    Y = np.where(rng.random(truth.shape) < 0.4, truth, np.nan)
    inferred = hierarchy.infer(Y)
    observed = ~np.isnan(inferred)
    assert np.array_equal(inferred[~np.isnan(Y)], Y[~np.isnan(Y)])
    assert np.array_equal(inferred[observed], truth[observed])
    assert observed.sum() > (~np.isnan(Y)).sum()
    assert np.array_equal(hierarchy.infer(inferred), inferred, equal_nan=True)
    for parent, child in edges:
        assert not ((inferred[:, child] == 1) & (inferred[:, parent] != 1)).any()
        assert not ((inferred[:, parent] == 0) & (inferred[:, child] != 0)).any()


def test_weights_of_inferred_labels_correct_their_frequencies():
    rng = np.random.default_rng(0)
    hierarchy, _ = random_hierarchy(rng, 10, 0.2)
    truth = (hierarchy.project(rng.normal(size=(20_000, 10))) > 0).astype(float)
    Y = np.where(rng.random(truth.shape) < 0.3, truth, np.nan)
    inferred = hierarchy.infer(Y)
    weights = inference_weights(read_labels(Y), read_labels(inferred))
    assert np.array_equal(weights > 0, ~np.isnan(inferred))
    assert np.abs(np.nanmean(inferred, axis=0) - truth.mean(axis=0)).max() > 0.05
    assert np.allclose(
        (np.nan_to_num(inferred) * weights).sum(axis=0), truth.mean(axis=0) * weights.sum(axis=0), rtol=0.1
    )
    assert np.allclose(weights.sum(axis=0), (weights > 0).sum(axis=0))


def test_complete_labels_have_equal_weights_despite_contradictions():
    labels = read_labels([[0, 1], [1, 1], [0, 0], [0, 1]])
    with pytest.warns(LabelWarning):
        inferred = Hierarchy({0: [1]}).infer_labels(labels)
    assert np.allclose(inference_weights(labels, inferred), 1)


def test_a_contradiction_is_resolved_for_the_positive_label_and_reported():
    Y = pd.DataFrame({"rock": [0, 1, 0], "metal": [1, 1, 0]})
    with pytest.warns(LabelWarning, match=r"1 negative label with .*sample 0: 'metal' without 'rock'"):
        inferred = Hierarchy({"rock": ["metal"]}).infer(Y)
    assert inferred["rock"].tolist() == [1, 1, 0]


def test_cycles_and_unknown_labels_are_named():
    with pytest.raises(ValueError, match=r"cycle, got .*rock > metal"):
        Hierarchy([("rock", "metal"), ("metal", "rock")])
    with pytest.raises(ValueError, match="1 unknown label: 'jazz'"):
        Hierarchy({"rock": ["metal", "jazz"]}).ancestors(["rock", "metal"])


def test_paths_and_mappings_describe_the_same_hierarchy():
    paths = Hierarchy.from_paths(["a/b/c", "a/d"])
    assert set(paths.edges) == set(Hierarchy({"a": ["a/b", "a/d"], "a/b": ["a/b/c"]}).edges)
