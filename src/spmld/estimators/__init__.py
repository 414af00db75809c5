"""Estimators, one file per method."""

from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.glocal import GLOCAL
from spmld.estimators.label_boosting import LabelBoosting
from spmld.estimators.label_prior import LabelPrior
from spmld.estimators.leml import LEML
from spmld.estimators.linear_models import MaskedLogistic, MaskedRidge
from spmld.estimators.masked_boosting import MaskedBoosting
from spmld.estimators.masked_forest import MaskedForest
from spmld.estimators.mllrc import MLLRC
from spmld.estimators.outputs import Completion
from spmld.estimators.per_label import PerLabelClassifier
from spmld.estimators.positive_only import positive_unlabeled
from spmld.estimators.self_paced import SelfPacedClassifier
from spmld.estimators.spmld import SPMLD
from spmld.estimators.threshold_classifier import ThresholdClassifier
from spmld.estimators.transformers import FeatureScaler

__all__ = [
    "GLOCAL",
    "LEML",
    "MLLRC",
    "SPMLD",
    "Completion",
    "FeatureScaler",
    "LabelBoosting",
    "LabelPrior",
    "MaskedBoosting",
    "MaskedForest",
    "MaskedLogistic",
    "MaskedRidge",
    "MultiLabelEstimator",
    "PerLabelClassifier",
    "SelfPacedClassifier",
    "ThresholdClassifier",
    "positive_unlabeled",
]
