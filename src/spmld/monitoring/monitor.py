"""Monitoring of a model on samples without labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from spmld._arrays import Matrix, features_to_numpy
from spmld._response import as_frame
from spmld._table import TextTable
from spmld.core.losses import logistic
from spmld.model_selection.statistics import holm_correction
from spmld.monitoring.reference import QUANTILES, Reference, append_zeros, count_below
from spmld.monitoring.shifts import MIN_POSITIVES, distribution_test, frequency_test

_Floats = NDArray[np.float64]

N_FAMILIES = 3
"""Label frequencies, scores and features, between which the false alarm rate is divided."""


@dataclass(frozen=True)
class Shifts:
    """Tests of one kind, for each label or feature.

    Attributes
    ----------
    names : list of str
        Labels, or features.
    training, new : ndarray of shape (n_tests,)
        What is compared: frequencies of labels, mean scores, or fractions of samples above the most different quantile.
    p_value : ndarray of shape (n_tests,)
        p-values, corrected for the number of tests by the method of Holm.
    alarm : ndarray of bool of shape (n_tests,)
        Whether the p-value is below a third of the false alarm rate.

    Examples
    --------
    See `monitor`.
    """

    names: list[str]
    training: _Floats
    new: _Floats
    p_value: _Floats
    alarm: NDArray[np.bool_]

    def table(self, title: str = "", top: int | None = None) -> TextTable:
        """Return a table, smallest p-values first, of at most `top` rows."""
        order = np.lexsort((-np.abs(self.new - self.training), self.p_value))[:top].tolist()
        rows = []
        for j in order:
            values = (float(self.training[j]), float(self.new[j]), float(self.p_value[j]))
            rows.append([self.names[j], *values, "alarm" if self.alarm[j] else ""])
        return TextTable([title.lower() or "name", "training", "new", "p-value", "alarm"], rows, title)


@dataclass(frozen=True)
class Monitoring:
    """Result of `monitor`.

    Attributes
    ----------
    n_samples : int
        Number of new samples.
    false_alarm_rate : float
        Probability of an alarm if nothing has changed.
    label_frequencies, scores, features : Shifts
        Tests for shifts.

    Examples
    --------
    See `monitor`.
    """

    n_samples: int
    false_alarm_rate: float
    label_frequencies: Shifts
    scores: Shifts
    features: Shifts

    @property
    def shifts(self) -> dict[str, Shifts]:
        """The tests by their titles."""
        return {"Label frequencies": self.label_frequencies, "Scores": self.scores, "Features": self.features}

    @property
    def alarm(self) -> bool:
        """Whether a test found a shift."""
        return any(bool(shift.alarm.any()) for shift in self.shifts.values())

    @property
    def summary(self) -> str:
        """What has changed, and what is not tested."""
        kinds = ", ".join(name.lower() for name, shift in self.shifts.items() if shift.alarm.any())
        found = f"Alarm: {kinds} have changed" if kinds else "No shift was found"
        notes = [f"{found} in {self.n_samples} samples."]
        if n_rare := int(np.isnan(self.label_frequencies.new).sum()):
            reason = f"fewer than {MIN_POSITIVES} expected positives or negatives, or without observed ones"
            notes.append(f"Label frequencies that are not tested: {n_rare}, with {reason}.")
        return " ".join(notes)

    def tables(self, top: int | None = None) -> list[TextTable]:
        """Return the tables of the shifts, each with at most `top` rows."""
        return [shift.table(title, top) for title, shift in self.shifts.items() if shift.names]

    def to_dict(self) -> dict[str, Any]:
        """Return the result in types that JSON supports; unknown numbers are None."""
        shifts = {}
        for title, shift in self.shifts.items():
            table = shift.table()
            shifts[title.lower()] = [_known(dict(zip(table.columns, row, strict=True))) for row in table.rows]
        return {
            "n_samples": self.n_samples,
            "alarm": self.alarm,
            "summary": self.summary,
            **shifts,
        }


def monitor(
    model: Any,
    X: Any,
    reference: Reference | None = None,
    *,
    false_alarm_rate: float = 0.05,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
) -> Monitoring:
    """Test whether samples without labels come from the distribution of the training data of a model.

    Three kinds of shifts are tested against the training data, each at a third of the false alarm rate, with the
    correction of Holm for the number of labels or features:

    - the frequency of each label, estimated by the EM algorithm, see `estimate_frequencies`;
    - the distribution of the scores of each label, by a linear model that was not fitted to the samples with which
      new samples are compared;
    - the distribution of each feature; of words and categories, the fraction of samples that contain them; and that of
      the number of features of a sample that are zero, which unseen words and categories increase.

    Parameters
    ----------
    model : fitted estimator
        `SelfPacedEnsemble` or a pipeline that ends with it, or with `reference` another model.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        New samples.
    reference : Reference, optional
        Summary of the training data, by default the attribute `reference_` of the model. See `make_reference`.
    false_alarm_rate : float, default=0.05
        Probability of an alarm if nothing has changed.
    feature_names, label_names : sequence of str, optional
        Names for the result, by default those of the model.

    Returns
    -------
    Monitoring

    Examples
    --------
    >>> from spmld import SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> from spmld.monitoring import monitor
    >>> data = make_planted(n_samples=900, n_labels=4, random_state=0)
    >>> model = SelfPacedEnsemble(views=("linear",), random_state=0).fit(data.X[::2], data.Y[::2])
    >>> monitor(model, data.X[1::2]).alarm
    False
    >>> changed = data.X[1::2].copy()
    >>> changed[:, 0] += 1
    >>> monitor(model, changed).features.table().rows[0][0]
    'feature 0'
    """
    if not 0 < false_alarm_rate < 1:
        raise ValueError(f"false_alarm_rate must be in (0, 1), got {false_alarm_rate!r}")
    level = false_alarm_rate / N_FAMILIES
    model, X, names = _open_pipeline(model, X, feature_names)
    reference = _find_reference(model) if reference is None else reference
    features = _read_features(model, X, reference.weights.shape[0])
    n_new = features.shape[0]
    scores = reference.scores.astype(float)
    new_scores = reference.linear_scores(features)
    if names is None:
        names = [f"feature {j}" for j in range(features.shape[1])]
    names = [*map(str, names), "number of zeros"]
    default: Any = getattr(model, "label_names_", range(scores.shape[1]))
    labels = [str(name) for name in (default if label_names is None else label_names)]
    tests = frequency_test(logistic(scores), logistic(new_scores))
    unknown = [[np.nan], [np.nan], [1.0]]
    old, new, p_frequencies = np.where(reference.tested, tests, unknown)
    edges = np.quantile(scores, QUANTILES, axis=0, method="inverted_cdf")
    p_scores = distribution_test(count_below(scores, edges), len(scores), count_below(new_scores, edges), n_new)[0]
    below = count_below(append_zeros(features), reference.edges)
    compared = ~np.isnan(reference.edges)
    p_features, most = distribution_test(reference.below, reference.n_samples, below, n_new, compared)
    columns = np.arange(len(most))
    above = 1 - reference.below[most, columns] / reference.n_samples
    new_above = 1 - below[most, columns] / n_new
    return Monitoring(
        n_samples=n_new,
        false_alarm_rate=false_alarm_rate,
        label_frequencies=_shifts(labels, old, new, p_frequencies, level),
        scores=_shifts(labels, scores.mean(axis=0), new_scores.mean(axis=0), p_scores, level),
        features=_shifts(names, above, new_above, p_features, level),
    )


def _known(record: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN, which JSON does not support, by None."""
    return {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in record.items()}


def _shifts(names: list[str], training: _Floats, new: _Floats, p_values: _Floats, level: float) -> Shifts:
    corrected = holm_correction(p_values) if len(p_values) else p_values
    return Shifts(names, training, new, corrected, corrected < level)


def _open_pipeline(model: Any, X: Any, names: Sequence[str] | None) -> tuple[Any, Any, Sequence[str] | None]:
    """Return the last step of a pipeline, the features that it is applied to, and their names."""
    if not hasattr(model, "steps"):
        default = getattr(model, "feature_names_in_", None)
        return model, X, default if names is None else names
    first = model[:-1]
    if names is None and hasattr(first, "get_feature_names_out"):
        names = first.get_feature_names_out()
    return model.steps[-1][1], first.transform(X), names


def _read_features(model: Any, X: Any, n_features: int) -> Matrix:
    """Return X as a matrix of finite numbers with the features of the model, or raise ValueError."""
    X = X if hasattr(X, "columns") else as_frame(model, features_to_numpy(X))
    X = validate_data(model, X, accept_sparse="csr", dtype=np.float64, reset=False)
    if X.shape[1] != n_features:
        raise ValueError(f"X must have the {n_features} features of the reference, got shape {X.shape}")
    return X


def _find_reference(model: Any) -> Reference:
    if not hasattr(model, "reference_"):
        raise ValueError(
            f"{type(model).__name__} has no summary of its training data to compare X with. Fit a SelfPacedEnsemble "
            "with a linear view to samples in memory, or pass reference=spmld.monitoring.make_reference(...)"
        )
    return model.reference_
