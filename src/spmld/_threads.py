"""Threads of linear algebra libraries.

Threads that wait for each other after every small product make a fit several times slower if another process is busy,
and hardly faster otherwise.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

Map = Callable[..., Iterable[Any]]
"""A function like `map`."""
LARGE = 10**9
"""Number of multiplications of a matrix product from which several threads are used."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def limit_threads(size: int = 0) -> Iterator[None]:
    """Use one thread in linear algebra, unless the largest products have many multiplications, given by `size`.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> from spmld._threads import limit_threads
    >>> with limit_threads(1000):
    ...     {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    {1}
    """
    if size >= LARGE:
        yield
    else:
        with _controller().limit(limits=1, user_api="blas"):
            yield


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Use one thread of OpenMP, as the trees of scikit-learn do otherwise for each processor."""
    with _controller().limit(limits=1, user_api="openmp"):
        yield


def linear_algebra_threads() -> int:
    """Return the number of threads that linear algebra may use here."""
    return max((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)


@contextmanager
def thread_map(n_jobs: int | None) -> Iterator[Map]:
    """Yield a function like `map` that calls in `n_jobs` threads; it is `map` itself for one job.

    Threads help because matrix products release the GIL. Each uses one thread of linear algebra.

    Examples
    --------
    >>> from spmld._threads import thread_map
    >>> with thread_map(2) as over:
    ...     list(over(abs, [-1, 2]))
    [1, 2]
    """
    if effective_n_jobs(n_jobs) == 1:
        yield map
    else:
        # The filters of warnings are shared by threads, which may restore them in any order.
        with warnings.catch_warnings(), limit_threads(), ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
            yield pool.map


def map_in_threads(n_jobs: int | None, function: Callable[..., Any], *values: Iterable[Any]) -> list[Any]:
    """Return the results of `map` by `n_jobs` threads, which end with the call, see `thread_map`."""
    with thread_map(n_jobs) as over:
        return list(over(function, *values))
