"""Descriptions of the parameters that the metrics have in common."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

_PARAMETERS = {
    "Y_true": """\
        labels in any form accepted by `spmld.labels.read_labels`
            True labels.""",
    "scores": """\
        array-like of shape (n_samples, n_labels)
            Scores, higher for more likely labels.""",
    "predictions": """\
        array-like or sparse matrix of shape (n_samples, n_labels)
            Predicted labels as 0/1, -1/+1 or bool.""",
    "probabilities": """\
        array-like of shape (n_samples, n_labels)
            Predicted probabilities of the positive class.""",
    "mask": """\
        array-like of bool of shape (n_samples, n_labels), optional
            True where a label is observed. By default, the entries of `Y_true` that are not missing.""",
    "entry_weight": """\
        array-like of shape (n_samples, n_labels) or (n_samples,), optional
            Weights of the observed entries, such as the inverse of the probability that an entry is observed. 0 is
            equivalent to missing.""",
    "k": """\
        int, default=5
            Number of highest-scored labels to consider. Ties are broken by column index.""",
    "propensities": """\
        array-like of shape (n_labels,)
            Propensities in (0, 1], as returned by `propensities` for the training labels.""",
    "normalize": """\
        bool, default=False
            Whether to divide by the maximum, the number of observed labels of the sample minus 1, so that values are in
            [0, 1]. Samples with a single observed label are then left out, too.""",
    "over": """\
        {"entries", "samples", "labels"}, default="entries"
            Average over all observed entries, or average the means of the samples or of the labels.""",
    "n_bins": """\
        int, default=10
            Number of bins of equal width in [0, 1].""",
    "average": """\
        {"mean"} or None, default="mean"
            None returns the value of each sample, label or entry, NaN where it is undefined.""",
}


def documented(metric: _F) -> _F:
    """Replace the line ``{parameters, returns and examples}`` in the docstring of `metric` by these sections.

    The examples follow that line, without the import of the metric.
    """
    if metric.__doc__:  # python -OO removes docstrings
        parameters = inspect.signature(metric).parameters
        entries = [f"{name} : {textwrap.dedent(_PARAMETERS[name])}" for name in parameters]
        returns = "float, or ndarray if `average` is None" if "average" in parameters else "float"
        lines = ["Parameters", "----------", *entries, "", "Returns", "-------", returns, "", "Examples", "--------"]
        sections = "\n".join([*lines, f">>> from spmld.metrics import {metric.__name__}"])
        description, examples = inspect.cleandoc(metric.__doc__).split("{parameters, returns and examples}\n\n")
        metric.__doc__ = f"{description}{sections}\n{examples}\n"
    return metric
