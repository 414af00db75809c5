"""Splits of multi-label data that spread the observed positives of every label evenly.

Rows are split by `MultilabelStratifiedKFold`, `RepeatedMultilabelStratifiedKFold`, `MultilabelStratifiedShuffleSplit`
and `train_validation_test_split`; observed entries of Y by `EntryKFold` and `hold_out_entries`.
"""

from spmld.splits.entries import EntryKFold, hold_out_entries
from spmld.splits.rows import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    RepeatedMultilabelStratifiedKFold,
)
from spmld.splits.three_way import train_validation_test_split

__all__ = [
    "EntryKFold",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "RepeatedMultilabelStratifiedKFold",
    "hold_out_entries",
    "train_validation_test_split",
]
