"""Methods by name, their parameters from ``key=value``, and search spaces from ``--choices`` and ``--range``."""

import json
import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

import spmld
from spmld._io import shorten
from spmld._validation import did_you_mean
from spmld.estimators import ThresholdClassifier
from spmld.labels import Hierarchy

_GLOCAL = {"feature_ridge": (0.01, 10.0, "log"), "coupling": (0.03, 3.0, "log"), "ridge": (0.003, 0.3, "log")}
METHODS: dict[str, dict[str, Any]] = {
    "SelfPacedEnsemble": {
        "label_graph_penalty": (0.1, 10.0, "log"),
        "dependency_weight": (0.0, 1.0),
        "keep_fraction": ["auto", 1.0],
    },
    "SPMLD": _GLOCAL,
    "SPMLD.paper": {},
    "GLOCAL": _GLOCAL,
    "LEML": {"alpha": (0.01, 100.0, "log")},
    "MLLRC": {"alpha": (1.0, 1000.0, "log"), "nuclear_penalty": (1.0, 1000.0, "log")},
    "MaskedLogistic": {"C": (0.001, 100.0, "log")},
    "MaskedRidge": {"alpha": (0.01, 1000.0, "log")},
    "MaskedBoosting": {"n_estimators": (50, 800, "log"), "max_depth": (2, 12), "learning_rate": (0.03, 0.3, "log")},
    "MaskedForest": {"min_samples_leaf": (1, 20, "log"), "max_features": (0.05, 1.0, "log")},
    "PerLabelClassifier": {},
    "SelfPacedClassifier": {"groups": ["label_polarity", "label", "all"]},
    "LabelPrior": {"smoothing": (0.1, 10.0, "log")},
}
"""Methods of the commands, with the default search spaces of `spmld tune`."""

MAX_DEPTH = 20
"""Largest depth of lists and objects in a parameter, which estimators copy and print by recursion."""

_PARAM = "KEY=VALUE, such as C=0.1"
_CHOICES = "KEY=A,B,C, such as n_components=5,10,20"
_RANGE = "KEY=LOW:HIGH or KEY=LOW:HIGH:log, such as C=0.01:100:log"
CALIBRATION_FOLDS = 3
"""Number of folds for the calibration of a method without a decision rule."""
NOISE_RATES = ("false_positive_rate", "false_negative_rate")
_CONSTANTS = {"true": True, "false": False, "none": None}


def parse_params(texts: Sequence[str]) -> dict[str, Any]:
    """Parse parameters of the form ``key=value``.

    Examples
    --------
    >>> from spmld.app.commands.methods import parse_params
    >>> parse_params(["C=0.1", "loss=squared", "fit_intercept=false", "tol=none"])
    {'C': 0.1, 'loss': 'squared', 'fit_intercept': False, 'tol': None}
    """
    params: dict[str, Any] = {}
    for text in texts:
        key, value = _split(text, "--param", _PARAM)
        if key in params:
            raise ValueError(f"--param {key} must be passed only once, got two values")
        params[key] = parse_value(value)
    return params


def parse_value(text: str) -> Any:
    """Parse a number, true, false, none or JSON; return any other text unchanged.

    Examples
    --------
    >>> from spmld.app.commands.methods import parse_value
    >>> parse_value("1e-3"), parse_value("None"), parse_value("squared")
    (0.001, None, 'squared')
    """
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    for parse in (_parse_json, float):  # JSON does not support numbers such as .5
        try:
            return parse(text)
        except RecursionError:
            raise ValueError(f"JSON is nested too deeply: {shorten(text, 80)}") from None
        except ValueError:
            continue
    return text


def _parse_json(text: str) -> Any:
    """Return the value of JSON; raise RecursionError if lists and objects are nested deeper than `MAX_DEPTH`."""
    depths = accumulate((sign in "[{") - (sign in "]}") for sign in text)
    if max(depths, default=0) > MAX_DEPTH:
        raise RecursionError
    return json.loads(text)


def build(method: str, params: dict[str, Any], seed: int, *, trusted: bool = False) -> Any:
    """Return the unfitted estimator of a method; with `trusted`, raise ValueError if it ignores verified entries.

    Examples
    --------
    >>> from spmld.app.commands.methods import build
    >>> build("MaskedForest", {"max_features": 0.3}, seed=1)
    MaskedForest(max_features=0.3, random_state=1)
    """
    name, _, preset = method.partition(".")
    make = getattr(spmld, name)
    model = (getattr(make, preset) if preset else make)()
    accepted = model.get_params()
    if unknown := [key for key in params if key not in accepted]:
        names = sorted(model.get_params(deep=False))
        hint = did_you_mean(unknown[0], names)
        raise ValueError(f"{method} has no parameter {unknown[0]!r}; its parameters are {', '.join(names)}{hint}")
    seeded = {"random_state": seed} if "random_state" in accepted else {}
    model.set_params(**{**seeded, **params})
    if trusted and not model.uses_trusted():
        raise ValueError(
            "--trusted needs a method that models wrong labels, SelfPacedEnsemble, or MaskedLogistic or MaskedBoosting "
            f"with --param false_positive_rate, got {method}, which gives all observed labels equal weight; leave out "
            "the column with --drop"
        )
    return model


def models_noise(model: Any) -> bool:
    """Return whether an estimator models wrong labels, so that its probabilities are those of the true labels."""
    return isinstance(model, spmld.SelfPacedEnsemble) or any(np.any(getattr(model, rate, 0)) for rate in NOISE_RATES)


def parse_decision(
    decision: str | float | None, precisions: Sequence[str], thresholds: Sequence[str]
) -> str | float | dict[str, Any] | None:
    """Return the decision of --decision, or those for single labels of --precision and --threshold.

    Examples
    --------
    >>> from spmld.app.commands.methods import parse_decision
    >>> parse_decision(None, ["sad=0.9"], ["rock=0.7"])
    {'sad': 'precision>=0.9', 'rock': 0.7}
    """
    single: dict[str, Any] = {}
    if len(precisions) == 1 and not thresholds and decision is None and _is_number(parse_value(precisions[0])):
        return f"precision>={precisions[0]}"
    for option, texts in (("--precision", precisions), ("--threshold", thresholds)):
        for text in texts:
            label, _, value = (part.strip() for part in text.rpartition("="))
            number = parse_value(value)
            if not label or not _is_number(number) or not (0 < number < 1 or (number == 1 and texts is precisions)):
                raise ValueError(f"{option} must have the form LABEL=NUMBER, such as sad=0.9, got {text!r}")
            if label in single:
                raise ValueError(f"--precision and --threshold must name each label once, got {label} twice")
            single[label] = f"precision>={value}" if texts is precisions else number
    if single and decision is not None:
        raise ValueError(
            "--decision cannot be combined with --precision and --threshold; the labels that they do not name are "
            "predicted as with --decision f1"
        )
    return single or decision


def with_decision(model: Any, decision: Any, seed: int, Y: Any, hierarchy: Hierarchy | None = None) -> Any:
    """Return a model that predicts labels by a decision rule, the value of --decision or "f1".

    Methods without a parameter `decision` predict labels with scores above 0. A regularized model has few of them, even
    if it ranks samples well, so that such methods are calibrated and get a decision rule by `ThresholdClassifier`.
    By default, methods that model wrong labels are unchanged, since calibration would fit the wrong labels, and all
    methods are unchanged if the observed labels in `Y` are all positive or all negative. With a hierarchy, predictions
    agree with it, and methods without a parameter `decision` are not calibrated.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.app.commands.methods import build, with_decision
    >>> with_decision(build("MaskedRidge", {}, 0), "macro_f1", 0, np.eye(2))
    ThresholdClassifier(cv=3, decision='macro_f1', estimator=MaskedRidge(),
                        random_state=0)
    """
    if hierarchy is not None:
        return _with_hierarchy(model, decision, hierarchy)
    if "decision" in model.get_params():
        return model if decision is None else model.set_params(decision=decision)
    calibrated = (Y > 0).any() and (Y <= 0).any() and not models_noise(model)
    if decision == "none" or (decision is None and not calibrated):
        return model
    return ThresholdClassifier(model, decision=decision or "f1", cv=CALIBRATION_FOLDS, random_state=seed)


def _with_hierarchy(model: Any, decision: Any, hierarchy: Hierarchy) -> Any:
    """Return a model whose predictions agree with a hierarchy, or raise ValueError if the decision does not."""
    if isinstance(decision, dict) or str(decision).startswith("precision"):
        raise ValueError(
            "--precision and --threshold cannot be combined with a hierarchy, in which labels are predicted with their "
            "ancestors; pass a threshold for all labels, such as --decision 0.7"
        )
    if "decision" in model.get_params():
        if decision is not None:
            model.set_params(decision=decision)
    elif decision not in (None, "none"):
        name = type(model).__name__
        raise ValueError(f"--decision cannot be combined with a hierarchy and {name}; use SelfPacedEnsemble instead")
    return spmld.HierarchicalClassifier(model, hierarchy)


def check_decision(model: Any, decision: Any) -> None:
    """Raise ValueError if --decision cannot be used with the model."""
    name = type(model).__name__
    if decision == "none" and "decision" in model.get_params():
        raise ValueError(f"--decision none needs a method without a decision rule, got {name}; pass 0.5 instead")
    if decision not in (None, "none") and "decision" not in model.get_params() and models_noise(model):
        raise ValueError(
            f"--decision cannot be combined with the noise rates of {name}, since decisions are calibrated on observed "
            "labels; choose labels with --threshold or --top-k of spmld predict"
        )


def without_decision(model: Any) -> Any:
    """Return a model from `with_decision` without the decision rule of `ThresholdClassifier`."""
    return base_estimator(model) if isinstance(model, ThresholdClassifier) else model


def base_estimator(model: Any) -> Any:
    """Return the base estimator of a model from `with_decision`, fitted if the model is fitted."""
    wrapped = isinstance(model, ThresholdClassifier | spmld.HierarchicalClassifier)
    return getattr(model, "estimator_", model.estimator) if wrapped else model


def parse_space(method: str, choices: Sequence[str], ranges: Sequence[str]) -> dict[str, Any]:
    """Return the choices and ranges of `spmld tune`; the default space of the method if there are no options.

    Examples
    --------
    >>> from spmld.app.commands.methods import parse_space
    >>> parse_space("SPMLD", ["n_components=5,10"], ["ridge=0.01:1:log"])
    {'n_components': [5, 10], 'ridge': (0.01, 1, 'log')}
    """
    space: dict[str, Any] = {}
    for text in choices:
        key, values = _split(text, "--choices", _CHOICES)
        space[key] = [parse_value(value.strip()) for value in values.split(",")]
    for text in ranges:
        key, values = _split(text, "--range", _RANGE)
        low, high, *scale = [parse_value(value) for value in values.split(":")] + [None] * (":" not in values)
        if not (_is_number(low) and _is_number(high) and scale in ([], ["log"])):
            raise ValueError(f"--range must have the form {_RANGE}, got {text!r}")
        if not low < high or (scale and low <= 0):
            raise ValueError(f"--range must have LOW < HIGH, and 0 < LOW with log, got {text!r}")
        space[key] = (low, high, *scale)
    space = space or METHODS[method]
    if not space:
        raise ValueError(f"{method} has no default search space; pass --choices or --range")
    return space


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    key, equals, values = (part.strip() for part in text.partition("="))
    if not key or not equals or (not values and form != _PARAM):
        raise ValueError(f"{option} must have the form {form}, got {text!r}")
    return key, values


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
