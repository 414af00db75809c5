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
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from spmld.dask import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=200, n_labels=3, random_state=0)
    >>> X, Y = (da.from_array(A, chunks=(100, -1)) for A in (data.X, data.Y))
    >>> with Client(processes=False, dashboard_address=None):
    ...     issues = find_label_issues(X, Y, cv=2, random_state=0)
    >>> issues.signs.shape
    (200, 3)
    """
    with ignore_label_warnings():
        data = collect(active_client(), X, Y, mask)
    return find_in_blocks(None, data, None, **options)
