"""What a model file may hold beside the types that skops trusts by itself.

Names one by one, and not all that begins with ``spmld.``: a file may then make objects of these classes, and call
nothing else.
"""

from __future__ import annotations

__all__ = ["TRUSTED"]

_CLASSES = {
    "spmld.core.losses": ("Logistic", "Squared", "SquaredHinge"),
    "spmld.core.terms": ("Correlation", "Coupling", "Fit", "Objective", "Ridge"),
    "spmld.estimators.glocal": ("GLOCAL",),
    "spmld.estimators.leml": ("LEML",),
    "spmld.estimators.masked": ("MaskedLogistic", "MaskedRidge"),
    "spmld.estimators.mlknn": ("MLkNN",),
    "spmld.estimators.mllrc": ("MLLRC",),
    "spmld.estimators.per_label": ("PerLabelClassifier",),
    "spmld.estimators.label_prior": ("LabelPrior",),
    "spmld.estimators.self_paced": ("SelfPacedClassifier",),
    "spmld.estimators.spmld": ("SPMLD",),
    "spmld.estimators.ensemble.dependency": ("DependencyCorrection",),
    "spmld.estimators.ensemble.ensemble": ("SelfPacedEnsemble",),
    "spmld.estimators.ensemble.views": ("View",),
    "spmld.estimators.scaling": ("FeatureScaler", "LandmarkFeatures"),
    "spmld.labels.read": ("Labels",),
    "spmld.pacing.rules": (
        "DiversePacing",
        "GroupSparsePacing",
        "HardPacing",
        "LinearPacing",
        "LogarithmicPacing",
    ),
    "spmld.pacing.schedules": ("FixedSchedule", "GeometricSchedule", "QuantileSchedule"),
    "spmld.studies.released": (
        "ReleasedCorrelation",
        "ReleasedCoupling",
        "ReleasedGLOCAL",
        "ReleasedPacing",
        "ReleasedSPMLD",
        "RowNormRidge",
    ),
    "spmld.model_selection.splitters": (
        "MultilabelStratifiedKFold",
        "MultilabelStratifiedShuffleSplit",
        "RepeatedMultilabelStratifiedKFold",
    ),
    "spmld.model_selection.calibration": ("CalibratedClassifier",),
    "spmld.model_selection.threshold_classifier": ("ThresholdClassifier",),
}

# Sparse training samples, which MLkNN keeps. Their indices are checked after loading.
_SPARSE = ("scipy.sparse._csr.csr_array",)

TRUSTED: tuple[str, ...] = (*(f"{module}.{name}" for module, names in _CLASSES.items() for name in names), *_SPARSE)
"""Full names of the types."""
