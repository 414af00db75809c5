"""Labels with missing entries: what counts as positive, negative and unobserved.

This is the only place that knows the encodings. Everywhere else labels are *signs*: +1, -1, and 0 where unobserved.

===================== ==========================================================================================
given                 read as
===================== ==========================================================================================
0 and 1, or bool      negative and positive
-1 and +1             negative and positive
NaN, None, ``pd.NA``  unobserved
masked array          masked entries are unobserved
``mask=``             False is unobserved, and what stands there is not read
sparse matrix         stored entries are labels, absent ones are negatives, or what ``mask`` says
-1, 0 and 1 together  refused: 0 may mean negative or unobserved, see `decode_missing`
===================== ==========================================================================================
"""

from spmld.labels.corruption import corrupt_labels, hide_labels
from spmld.labels.read import Labels, decode_missing, observed, read_labels

__all__ = ["Labels", "corrupt_labels", "decode_missing", "hide_labels", "observed", "read_labels"]
