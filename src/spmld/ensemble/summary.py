"""The summary of the training data of an ensemble, to which monitoring compares new data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.ensemble.formula import MAX_CALIBRATED
from spmld.ensemble.search import fit_linear_part, original_coefficients
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.path_search import PathResult, spacing
from spmld.model_selection.samples import Samples
from spmld.monitoring.reference import make_reference


def known_signs(samples: Samples, class_prior: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the observed labels, without the weak negatives of labels with a class prior."""
    return np.where(np.isnan(class_prior), samples.signs, samples.signs > 0).astype(np.int8)


def summarize_samples(
    ensemble: Any,
    samples: Samples,
    features: Mapping[str, Samples],
    results: Mapping[str, PathResult],
    learned: NDArray[np.bool_],
    left_out: NDArray[np.bool_],
) -> None:
    """Set the summary of evenly spaced samples, with a linear view that is fitted without some of all samples."""
    coef = fit_linear_part(results, features, ensemble.transformers_, left_out)
    rows = slice(None, None, spacing(len(learned), MAX_CALIBRATED))  # more would change little
    _summarize(ensemble, samples.rows(rows), learned[rows], coef, left_out[rows])


def summarize_held_out(ensemble: Any, samples: Samples, models: Mapping[str, Any], learned: NDArray[np.bool_]) -> None:
    """Set the summary of samples to which the models of the views were not fitted."""
    transformers = ensemble.transformers_
    coefficients = (original_coefficients(transformers[name], model) for name, model in models.items())
    coef = next((values for values in coefficients if values is not None), None)
    _summarize(ensemble, samples, learned, coef, np.ones(len(learned), dtype=bool))


def _summarize(
    ensemble: Any,
    samples: Samples,
    learned: NDArray[np.bool_],
    coef: NDArray[Any] | None,
    left_out: NDArray[np.bool_],
) -> None:
    """Set the summary of samples, or delete that of the last fit if there is no linear view."""
    ensemble.__dict__.pop("reference_", None)
    if coef is not None:
        labels = Labels(known_signs(samples, ensemble.class_prior_) * learned, SIGNS)
        ensemble.reference_ = make_reference(samples.X, labels, coef=coef, held_out=left_out)
