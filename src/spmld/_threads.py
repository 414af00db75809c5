"""Threads of linear algebra libraries.

Threads that wait for each other after every small product make a fit several times slower if another process is busy,
and hardly faster otherwise.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

LARGE = 10**9
"""Number of multiplications of a matrix product from which several threads are used."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def limit_threads(size: int = 0) -> Iterator[None]:
    """Use one thread in linear algebra, unless the products have many multiplications.

    Parameters
    ----------
    size : int, default=0
        Number of multiplications of the largest products.

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
