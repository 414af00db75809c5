"""Classifier with calibrated probabilities and a decision rule."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from spmld._validation import StrOptions
from spmld.model_selection._cross_fitted import CrossFittedClassifier
from spmld.model_selection.thresholds import DECISION_CONSTRAINTS, Decision
from spmld.noise.calibration import CALIBRATIONS


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdClassifier(CrossFittedClassifier):
    """Classifier with calibrated probabilities, and decisions with a high F1 that are based on them.

    Clones of the base estimator are fitted on the training samples of each fold and score the test samples. The scores
    of the observed entries are calibrated, and the thresholds are chosen with the calibrated probabilities of all
    entries. Then the base estimator is fitted on all samples.

    Parameters
    ----------
    estimator : estimator
        Base estimator with `decision_function` (preferred) or `predict_proba`. It must accept NaN in Y if labels are
        missing.
    decision : {"f1", "micro_f1", "macro_f1", "sample_f1"}, float, int or dict, default="f1"
        Which labels to predict: those that maximize micro F1, macro F1, sample F1 or, with "f1", a compromise between
        all three; those with probabilities above a number in (0, 1); or a fixed number of labels for each sample. A
        dict has thresholds and precision targets for single labels. See `DecisionRule`.
    calibration : {"pooled", "sigmoid", "isotonic"}, default="pooled"
        Calibration, see the parameter `method` of `CalibratedClassifier`.
    cv, n_jobs, random_state
        As in `CalibratedClassifier`.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,) or None
        Labels with probabilities above their thresholds are predicted. None if the decision depends on the other labels
        of the sample: with "f1", "sample_f1" and a number of labels.
    estimator_, response_method_, calibration_, decision_rule_, classes_, n_features_in_, feature_names_in_
        As in `CalibratedClassifier`.

    Notes
    -----
    There is no `decision_function`, so that ranking metrics use the calibrated probabilities and not their distances
    from the thresholds, which differ between labels.

    See Also
    --------
    CalibratedClassifier : Calibrated probabilities, with decisions at 0.5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> from spmld.model_selection import ThresholdClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> Y = (X + rng.normal(size=(300, 2)) > 1.8).astype(int)
    >>> base = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    >>> model = ThresholdClassifier(base, decision="macro_f1", random_state=0).fit(X, Y)
    >>> bool((model.thresholds_ < 0.5).all())
    True
    >>> int(base.predict(X).sum()) < int(model.predict(X).sum())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrossFittedClassifier._parameter_constraints,
        "decision": DECISION_CONSTRAINTS,
        "calibration": [StrOptions(set(CALIBRATIONS))],
    }

    decision: Decision = "f1"
    calibration: Literal["pooled", "sigmoid", "isotonic"] = "pooled"

    def _settings(self) -> tuple[str, Decision]:
        return self.calibration, self.decision

    @property
    def thresholds_(self) -> NDArray[np.float64] | None:
        """Thresholds of the probabilities of the labels."""
        return self.decision_rule_.thresholds_
