"""Methods by name, and their parameters from ``key=value``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource

from spmld.cli.source import seed_option

__all__ = ["METHODS", "SPACES", "build", "find_method", "method_options", "parse_params", "refuse_beside_model"]

METHODS = (
    "SelfPacedEnsemble",
    "SPMLD",
    "GLOCAL",
    "LEML",
    "MLLRC",
    "MLkNN",
    "MaskedLogistic",
    "MaskedRidge",
    "PerLabelClassifier",
    "SelfPacedClassifier",
    "LabelPrior",
    "SPMLD.paper",
)

_HOST = {"feature_ridge": (0.01, 10.0, "log"), "coupling": (0.03, 3.0, "log"), "ridge": (0.003, 0.3, "log")}
SPACES: dict[str, dict[str, Any]] = {
    "SPMLD": _HOST,
    "GLOCAL": _HOST,
    "LEML": {"alpha": (0.01, 100.0, "log")},
    "MLLRC": {"alpha": (1.0, 1000.0, "log"), "nuclear_penalty": (1.0, 1000.0, "log")},
    "MLkNN": {"n_neighbors": (3, 50, "log")},
    "MaskedLogistic": {"C": (0.001, 100.0, "log")},
    "MaskedRidge": {"alpha": (0.01, 1000.0, "log")},
    "SelfPacedClassifier": {"groups": ["label_polarity", "label", "all"]},
    "LabelPrior": {"smoothing": (0.1, 10.0, "log")},
}
"""Where `spmld tune` looks if it is not told."""

_WORDS = {"true": True, "false": False, "none": None}


def method_options(command: Callable[..., None]) -> Callable[..., None]:
    """--method, --param and --seed, the same for every command that fits one method."""
    for option in (
        seed_option("Seed of the method and of folds."),
        click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="A parameter; repeat for more."),
        click.option("--method", default="SelfPacedEnsemble", show_default=True, help=f"One of {', '.join(METHODS)}."),
    ):
        command = option(command)
    return command


def refuse_beside_model() -> None:
    """Refuse --method and --param where a model is given that is fitted already."""
    context = click.get_current_context()
    for name, option in (("method", "--method"), ("params", "--param")):
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise ValueError(f"{option} is for a method that is fitted: leave it out with --model")


def find_method(name: str) -> str:
    """A method as it is written, whatever the case of the letters.

    Examples
    --------
    >>> from spmld.cli.methods import find_method
    >>> find_method("maskedlogistic")
    'MaskedLogistic'
    """
    for known in METHODS:
        if known.lower() == name.lower():
            return known
    raise ValueError(f"method must be one of {', '.join(METHODS)}, got {name!r}")


def parse_params(texts: Sequence[str]) -> dict[str, Any]:
    """Parameters from ``key=value``, where the value is a number, true, false, none, JSON or else text.

    Examples
    --------
    >>> from spmld.cli.methods import parse_params
    >>> parse_params(["C=0.1", "loss=squared", "fit_intercept=false", "tol=none"])
    {'C': 0.1, 'loss': 'squared', 'fit_intercept': False, 'tol': None}
    """
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"--param must be KEY=VALUE, such as C=0.1, got {text!r}")
        if key.strip() in found:
            raise ValueError(f"--param {key.strip()} is given twice")
        found[key.strip()] = parse_value(value.strip())
    return found


def parse_value(text: str) -> Any:
    """A value from its text.

    Examples
    --------
    >>> from spmld.cli.methods import parse_value
    >>> parse_value("1e-3"), parse_value("None"), parse_value("squared")
    (0.001, None, 'squared')
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return float(text)  # such as .5, which JSON does not know
    except ValueError:
        return text


def build(method: str, params: dict[str, Any], seed: int) -> Any:
    """The estimator, not fitted."""
    import spmld

    name, _, preset = find_method(method).partition(".")
    maker = getattr(spmld, name)
    model = (getattr(maker, preset) if preset else maker)()
    known = model.get_params()
    for key in params:
        if key not in known:
            accepted = ", ".join(sorted(name for name in known if "__" not in name))
            raise ValueError(f"{method} has no parameter {key!r}; there are {accepted}")
    seeded = {"random_state": seed} if "random_state" in known else {}
    return model.set_params(**{**seeded, **params})
