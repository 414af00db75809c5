"""Methods by name, and their parameters from ``key=value``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["METHODS", "SPACES", "build", "parse_params", "parse_value"]

METHODS = (
    "SelfPacedEnsemble",
    "SPMLD",
    "SPMLD.paper",
    "GLOCAL",
    "LEML",
    "MLLRC",
    "MLkNN",
    "MaskedLogistic",
    "MaskedRidge",
    "PerLabelClassifier",
    "SelfPacedClassifier",
    "LabelPrior",
)

_GLOCAL = {"feature_ridge": (0.01, 10.0, "log"), "coupling": (0.03, 3.0, "log"), "ridge": (0.003, 0.3, "log")}
SPACES: dict[str, dict[str, Any]] = {
    "SPMLD": _GLOCAL,
    "GLOCAL": _GLOCAL,
    "LEML": {"alpha": (0.01, 100.0, "log")},
    "MLLRC": {"alpha": (1.0, 1000.0, "log"), "nuclear_penalty": (1.0, 1000.0, "log")},
    "MLkNN": {"n_neighbors": (3, 50, "log")},
    "MaskedLogistic": {"C": (0.001, 100.0, "log")},
    "MaskedRidge": {"alpha": (0.01, 1000.0, "log")},
    "SelfPacedClassifier": {"groups": ["label_polarity", "label", "all"]},
    "LabelPrior": {"smoothing": (0.1, 10.0, "log")},
}
"""Default search spaces of `spmld tune`."""

_CONSTANTS = {"true": True, "false": False, "none": None}


def parse_params(texts: Sequence[str]) -> dict[str, Any]:
    """Parse parameters of the form ``key=value``.

    Examples
    --------
    >>> from spmld.cli.methods import parse_params
    >>> parse_params(["C=0.1", "loss=squared", "fit_intercept=false", "tol=none"])
    {'C': 0.1, 'loss': 'squared', 'fit_intercept': False, 'tol': None}
    """
    params: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key:
            raise ValueError(f"--param must be KEY=VALUE, such as C=0.1, got {text!r}")
        if key in params:
            raise ValueError(f"--param {key} must be passed once, got it twice")
        params[key] = parse_value(value)
    return params


def parse_value(text: str) -> Any:
    """Parse a number, true, false, none or JSON; return any other text unchanged.

    Examples
    --------
    >>> from spmld.cli.methods import parse_value
    >>> parse_value("1e-3"), parse_value("None"), parse_value("squared")
    (0.001, None, 'squared')
    """
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    for parse in (json.loads, float):  # JSON does not support numbers such as .5
        try:
            return parse(text)
        except ValueError:
            continue
    return text


def build(method: str, params: dict[str, Any], seed: int) -> Any:
    """Return the unfitted estimator of a method."""
    import spmld

    name, _, preset = method.partition(".")
    make = getattr(spmld, name)
    model = (getattr(make, preset) if preset else make)()
    accepted = model.get_params()
    for key in params:
        if key not in accepted:
            names = ", ".join(sorted(name for name in accepted if "__" not in name))
            raise ValueError(f"{method} has no parameter {key!r}; its parameters are {names}")
    seeded = {"random_state": seed} if "random_state" in accepted else {}
    return model.set_params(**{**seeded, **params})
