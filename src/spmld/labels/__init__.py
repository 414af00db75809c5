"""Labels with missing entries: reading, writing, hiding and corrupting them.

This is the only package that knows how labels are encoded. In the others, labels are *signs*: +1 for positive, -1 for
negative, 0 for missing.

===================== ===============================================================================================
labels                meaning
===================== ===============================================================================================
0 and 1, or bool      negative and positive
yes and no            words: also y, n, true, false, ja, nein, x; they become 0 and 1, and "" and "?" are missing
-1 and +1             negative and positive
NaN, None, ``pd.NA``  missing
masked array          masked entries are missing
``mask=``             entries where it is False are missing, and their values are ignored
sparse matrix         stored entries are labels; the others are negative, or missing where ``mask`` is False
-1, 0 and 1 together  raises an error, as 0 may mean negative or missing; see `decode_missing`
===================== ===============================================================================================
"""

from spmld.labels.corruption import corrupt_labels, hide_labels
from spmld.labels.encoding import Labels, decode_missing, read_labels
from spmld.labels.hierarchy import Hierarchy
from spmld.labels.single_class import LabelWarning
from spmld.labels.tags import read_tags

__all__ = [
    "Hierarchy",
    "LabelWarning",
    "Labels",
    "corrupt_labels",
    "decode_missing",
    "hide_labels",
    "read_labels",
    "read_tags",
]
