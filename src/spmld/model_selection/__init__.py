"""Model selection with missing labels: splits, cross-fitting, decisions, search and comparison."""

from spmld.model_selection.calibrated_classifier import CalibratedClassifier
from spmld.model_selection.comparison import compare
from spmld.model_selection.comparison_result import Comparison
from spmld.model_selection.cross_fitting import CrossFitResult, cross_fit, make_folds
from spmld.model_selection.cross_validation import cross_val_predict, cross_val_score, cross_validate
from spmld.model_selection.entry_splits import EntryKFold, hold_out_entries
from spmld.model_selection.label_decisions import LabelPrecision
from spmld.model_selection.search import tune
from spmld.model_selection.search_result import SearchResult, SearchTrial
from spmld.model_selection.sklearn_search import GridSearchCV, RandomizedSearchCV
from spmld.model_selection.splitters import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    RepeatedMultilabelStratifiedKFold,
)
from spmld.model_selection.threshold_classifier import ThresholdClassifier
from spmld.model_selection.thresholds import DecisionRule
from spmld.model_selection.train_validation_test import train_validation_test_split

__all__ = [
    "CalibratedClassifier",
    "Comparison",
    "CrossFitResult",
    "DecisionRule",
    "EntryKFold",
    "GridSearchCV",
    "LabelPrecision",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "RandomizedSearchCV",
    "RepeatedMultilabelStratifiedKFold",
    "SearchResult",
    "SearchTrial",
    "ThresholdClassifier",
    "compare",
    "cross_fit",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "hold_out_entries",
    "make_folds",
    "train_validation_test_split",
    "tune",
]
