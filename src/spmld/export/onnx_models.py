"""ONNX operators of models: scores, probabilities and decisions."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline

from spmld.ensemble import SelfPacedEnsemble
from spmld.estimators import (
    LabelBoosting,
    MaskedBoosting,
    MaskedForest,
    MultiLabelEstimator,
    PerLabelClassifier,
    SelfPacedClassifier,
    ThresholdClassifier,
)
from spmld.estimators.model_parts import linear_coefficients
from spmld.estimators.outputs import BEND
from spmld.estimators.trees import Trees
from spmld.export.onnx_graph import Operators, Tensor, concatenate, log_ratio, unsupported
from spmld.model_selection import DecisionRule

Outputs = tuple[Any, Any, DecisionRule | None]
"""Scores, probabilities, and the rule for decisions; None if labels with positive scores are predicted."""
_TIE = 1e-5
"""Scores up to this number are 0 but for rounding errors, such as those of forests with an even number of trees."""


def predictions(build: Operators, model: Any, inputs: Any) -> Outputs:
    """Declare the scores and probabilities of a model, and return them with the rule for decisions or None."""
    if isinstance(model, FrozenEstimator):
        return predictions(build, model.estimator, inputs)
    if isinstance(model, BaseSearchCV):
        return predictions(build, model.best_estimator_, inputs)
    if isinstance(model, Pipeline):
        return predictions(build, model[-1], _transformed(build, model, inputs))
    if isinstance(model, SelfPacedEnsemble):
        return _ensemble(build, model, inputs)
    if isinstance(model, ThresholdClassifier):
        return _calibrated(build, model, inputs)
    if isinstance(model, SelfPacedClassifier):
        return *predictions(build, model.estimator_, inputs)[:2], None
    if isinstance(model, MaskedBoosting):
        return *_boosted(build, inputs, model.trees_, model.intercept_), None
    if isinstance(model, LabelBoosting):
        return *_boosted_labels(build, inputs, model), None
    if isinstance(model, MaskedForest):
        return _forest(build, model, inputs)
    if isinstance(model, MultiLabelEstimator):
        return _linear(build, model, inputs)
    if isinstance(model, MultiOutputClassifier | OneVsRestClassifier):
        return _per_label(build, model.estimators_, np.zeros(len(model.estimators_)), inputs)
    raise unsupported(type(model).__name__)


def _transformed(build: Operators, pipeline: Pipeline, inputs: Any) -> Any:
    """Declare the steps of a pipeline before the last."""
    for _, step in pipeline.steps[:-1]:
        if step not in (None, "passthrough"):
            inputs = build.transformed(step, inputs)
    return inputs


def _linear(build: Operators, model: MultiLabelEstimator, inputs: Any) -> Outputs:
    """Declare a linear model, or a classifier for each label."""
    try:
        coef, intercept = linear_coefficients(model)
    except ValueError:
        if isinstance(model, PerLabelClassifier):
            return _per_label(build, model.estimators_, model.prior_, inputs)
        raise unsupported(type(model).__name__) from None
    # The difference of features far from zero and the rounded center is exact.
    center = model._feature_means.astype(np.float32).astype(float)
    l = len(intercept)

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        scores = (x - center) @ coef.T + (intercept + coef @ center)
        return scores, scores.apply("Sigmoid") if model.loss == "logistic" else _bent(scores)

    return *build.formula(function, inputs, l, l), None


def _bent(scores: Tensor) -> Tensor:
    """Return the probabilities of `score_probabilities` for losses other than the logistic."""
    sizes = scores.apply("Abs")
    kept = sizes.apply("Min", 1 - BEND)
    excess = sizes - kept
    return scores.apply("Sign") * (kept + excess / (excess + BEND) * BEND) * 0.5 + 0.5


def _ensemble(build: Operators, model: SelfPacedEnsemble, inputs: Any) -> Outputs:
    formula = model.formula_
    l = model.n_labels_
    own, others, shift, rates = formula.correction
    features: dict[int, Any] = {}  # views share transformers
    views = []
    for view in formula.views:
        if id(view.transformer) not in features:
            features[id(view.transformer)] = build.transformed(view.transformer, inputs)
        try:
            views.append(predictions(build, view.estimator, features[id(view.transformer)])[0])
        except ValueError as error:
            raise ValueError(f"the view {view.name!r} of the ensemble: {error}") from None

    def function(*scores: Tensor) -> tuple[Tensor, Tensor]:
        first, *rest = (part * view.factor for part, view in zip(scores, formula.views, strict=True))
        s = first.apply("Sum", *rest, formula.offset)
        corrected = s * own + s.apply("Sigmoid") @ others + shift
        if rates.any():
            positive = corrected.apply("Sigmoid") * (1 - rates.alpha - rates.beta) + rates.alpha
            negative = (corrected * -1.0).apply("Sigmoid") * (1 - rates.alpha - rates.beta) + rates.beta
            corrected = (positive / negative).apply("Log")
        return corrected, corrected.apply("Sigmoid")

    return *build.formula(function, views, l, l), formula.rule


def _calibrated(build: Operators, model: ThresholdClassifier, inputs: Any) -> Outputs:
    calibration = model.calibration_
    rule = model.decision_rule_
    l = len(model.calibration_.slopes_)
    uses_scores = model.response_method_ == "decision_function"

    def function(scores: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        if not uses_scores:
            odds = (p + model.smallest_probability) / (1.0 - p + model.smallest_probability)
            scores = odds.apply("Log")
        scores = scores * calibration.slopes_ + calibration.intercepts_
        return scores, scores.apply("Sigmoid")

    return *build.formula(function, predictions(build, model.estimator_, inputs)[:2], l, l), rule


def _boosted(build: Operators, inputs: Any, trees: Trees, intercept: Any, missing_left: Any = None) -> list[Any]:
    """Declare the scores and probabilities of boosted trees."""

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        scores = _tree_scores(x, trees, missing_left) + intercept
        return scores, scores.apply("Sigmoid")

    l = trees.value.shape[1]
    return build.formula(function, inputs, l, l)


def _tree_scores(x: Tensor, trees: Trees, missing_left: NDArray[np.bool_] | None = None) -> Tensor:
    """Return the sum of the values of trees; missing values go to the left child where `missing_left` is True."""
    n_nodes, n_labels = trees.value.shape
    node = np.arange(n_nodes)
    leaf = trees.left == node
    size = np.diff([*trees.roots, n_nodes])
    tree = np.repeat(np.arange(len(size)), size)
    start = np.repeat(trees.roots, size)
    # A number in single precision is at most the threshold if it is at most the next lower one in this precision.
    rounded = trees.threshold.astype(np.float32)
    lower = np.where(rounded > trees.threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    missing = {} if missing_left is None else {"nodes_missing_value_tracks_true": missing_left.astype(int).tolist()}
    return x.apply(
        "TreeEnsembleRegressor",
        domain="ai.onnx.ml",
        n_targets=n_labels,
        nodes_treeids=tree.tolist(),
        nodes_nodeids=(node - start).tolist(),
        nodes_featureids=trees.feature.tolist(),
        nodes_values=lower.tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(leaf, 0, trees.left - start).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, trees.right - start).tolist(),
        target_treeids=np.repeat(tree[leaf], n_labels).tolist(),
        target_nodeids=np.repeat((node - start)[leaf], n_labels).tolist(),
        target_ids=np.tile(np.arange(n_labels), int(leaf.sum())).tolist(),
        target_weights=trees.value[leaf].ravel().tolist(),
        **missing,
    )


def _label_tree_scores(x: Tensor, trees: Sequence[Trees]) -> Tensor:
    """Return the sum of the values of the trees of each label; 0 for a label without trees."""
    zero = x.columns([0]) * 0.0
    return concatenate([_tree_scores(x, of_label) if len(of_label.roots) else zero for of_label in trees])


def _boosted_labels(build: Operators, inputs: Any, model: LabelBoosting) -> list[Any]:
    """Declare the scores and probabilities of boosted trees of each label."""

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        scores = _label_tree_scores(x, model.trees_) + model.intercept_
        return scores, scores.apply("Sigmoid")

    l = len(model.trees_)
    return build.formula(function, inputs, l, l)


def _forest(build: Operators, model: MaskedForest, inputs: Any) -> Outputs:
    slope, intercept = model.probability_slope()
    smallest, largest = model.probability_range()
    n_trees = model.n_trees_
    l = len(slope)

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        means = _label_tree_scores(x, model.trees_) * (1 / np.maximum(n_trees, 1))
        p = (means + np.where(n_trees > 0, 0.0, model.prior_)) * slope + intercept
        p = p.apply("Max", smallest).apply("Min", largest)
        return log_ratio(p, 1.0 - p), p

    return *build.formula(function, inputs, l, l), None


def _per_label(build: Operators, estimators: Sequence[Any], prior: Any, inputs: Any) -> Outputs:
    """Declare the scores and probabilities of binary classifiers; labels without a classifier get a constant."""
    parts = [_classifier(build, part, inputs) for part in estimators if part is not None]

    def function(*probabilities: Tensor) -> tuple[Tensor, Tensor]:
        zeros = probabilities[0] - probabilities[0]
        remaining = iter(probabilities)
        pairs = [
            next(remaining) if part is not None else zeros + np.array([1 - p, p])
            for part, p in zip(estimators, prior, strict=True)
        ]
        p, q = (concatenate([pair.columns([j]) for pair in pairs]) for j in (1, 0))
        return log_ratio(p, q), p

    return *build.formula(function, parts, len(estimators), len(estimators)), None


def _classifier(build: Operators, model: Any, inputs: Any) -> Any:
    """Declare the probabilities of the two classes of a binary classifier."""
    if isinstance(model, Pipeline):
        return _classifier(build, model[-1], _transformed(build, model, inputs))
    if not hasattr(model, "predict_proba") or hasattr(model, "support_vectors_"):
        raise unsupported(f"{type(model).__name__}, whose scores are not the log-odds of probabilities,")
    if isinstance(model, HistGradientBoostingClassifier):
        if model.is_categorical_ is not None:
            raise unsupported("HistGradientBoostingClassifier with categorical features")
        scores, _ = _boosted(build, inputs, *Trees.from_boosting(model))

        def function(s: Tensor) -> Tensor:
            return concatenate([s * -1.0, s]).apply("Sigmoid")

        return build.formula(function, [scores], 2)[0]
    build.scope.add_options(id(model), {"zipmap": False})
    return build.transformed(model, inputs, parsers={})[1]


def decisions(scores: Tensor, probabilities: Tensor, rule: DecisionRule | None) -> Tensor:
    """Return the labels (0 and 1) that a rule predicts, by default those with scores above 0."""
    if rule is None:
        positive = scores > _TIE
    elif rule.thresholds_ is not None:
        positive = scores > logit(rule.thresholds_)
    elif isinstance(rule.decision, Integral):
        positive = _top_k(probabilities, int(rule.decision))
    else:
        weight = rule.sample_weight_
        per_label = (1 - weight) * rule.label_thresholds_ + rule.offset_
        above = probabilities
        if rule.floor_.any():
            above = ((probabilities - rule.floor_) / rule.scale_).apply("Clip", 0.0, 1.0)
        positive = above > _sample_thresholds(above, rule) * weight + per_label
    return positive.cast(np.int64)


def _sample_thresholds(p: Tensor, rule: DecisionRule) -> Tensor:
    """Return the thresholds of the samples, see `DecisionRule`."""
    l = len(rule.label_thresholds_)
    descending, _ = p.apply("TopK", p.constant([l], np.int64), outputs=2, axis=1)
    sums = descending.apply("CumSum", p.constant(1, np.int64))
    total = p.apply("ReduceSum", p.constant([1], np.int64), keepdims=1)
    best = (sums / (total + np.arange(1, l + 1))).reduce("ReduceMax")  # half of the best expected F1
    empty = (1.0 - p).reduce("ReduceProd")
    return (1.0 - empty) * best + empty * rule.common_threshold_


def _top_k(p: Tensor, k: int) -> Tensor:
    """Return ones for the k labels with the largest probabilities; of equal ones, those with the lowest indices."""
    values, indices = p.apply("TopK", p.constant([k], np.int64), outputs=2, axis=1)
    return (p - p).apply("ScatterElements", indices, values - values + 1.0, axis=1)
