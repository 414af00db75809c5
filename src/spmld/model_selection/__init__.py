"""Model selection with missing labels: splits, cross-fitting, decisions, search and comparison."""

from spmld.model_selection.comparison import Comparison, compare
from spmld.model_selection.cross_fitting import cross_fit, cross_val_predict
from spmld.model_selection.folds import MultilabelStratifiedKFold, make_folds
from spmld.model_selection.hold_out import hold_out_entries, stratified_split
from spmld.model_selection.thresholds import DecisionRule

__all__ = [
    "Comparison",
    "DecisionRule",
    "MultilabelStratifiedKFold",
    "compare",
    "cross_fit",
    "cross_val_predict",
    "hold_out_entries",
    "make_folds",
    "stratified_split",
]
