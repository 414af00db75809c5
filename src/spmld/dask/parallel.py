"""Many fits on a cluster: everything that accepts ``n_jobs``."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from joblib import parallel_config

from spmld._io import need
from spmld.dask.collections import active_client


@contextmanager
def use_cluster(scheduler: Any = None) -> Iterator[Any]:
    """Run the fits of functions that accept ``n_jobs`` on a Dask cluster.

    These are `compare`, `cross_fit`, `find_label_issues`, and scikit-learn's searches. Their trials are
    independent: if a worker is lost, only the trials that were running on it are repeated.

    Parameters
    ----------
    scheduler : str or None, default=None
        Address of the scheduler, such as "tcp://10.0.0.1:8786". None uses the active client.

    Yields
    ------
    distributed.Client
        The client.

    Examples
    --------
    >>> from spmld.dask import use_cluster
    >>> with use_cluster("tcp://10.0.0.1:8786"):  # doctest: +SKIP
    ...     comparison = compare(methods, X, Y)
    """
    client = active_client() if scheduler is None else need("distributed", "dask").Client(scheduler)
    with nullcontext() if scheduler is None else client, parallel_config("dask"):
        yield client
