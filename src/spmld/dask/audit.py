"""Label audit of Dask collections."""

from typing import Any

from spmld.audit import LabelIssues
from spmld.audit import find_label_issues as find_in_blocks
from spmld.dask.collections import active_client, collect
from spmld.labels.single_class import ignore_label_warnings


def find_label_issues(X: Any, Y: Any, *, mask: Any = None, **options: Any) -> LabelIssues:
    """Find labels of Dask collections that are likely to be wrong.

    The features stay on the workers of the active client. Labels and scores are loaded into memory.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Samples.
    Y, mask : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_labels)
        Labels to audit, and the observed entries.
    **options
        Other parameters of `spmld.audit.find_label_issues`.

    Returns
    -------
    LabelIssues

    Examples
    --------
    See `spmld.audit.LabelIssues`.
    """
    with ignore_label_warnings():
        data = collect(active_client(), X, Y, mask)
    return find_in_blocks(None, data, None, **options)
