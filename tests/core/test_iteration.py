"""The outer iteration: records, callback and status."""

import numpy as np
import pytest

from spmld.core.iteration import Status, iterate
from spmld.core.lazy_matrix import LazyMatrix, loaded


def halve(number, x):
    return x / 2, {"objective": x / 2}, x / 2 < 0.2


def test_iterates_until_convergence_with_one_record_per_iteration():
    result = iterate(halve, 1.0, max_iter=10, stage="main")
    assert result.state == 0.125
    assert result.status is Status.CONVERGED
    assert [record["objective"] for record in result.history] == [0.5, 0.25, 0.125]
    assert list(result.history[0]) == ["stage", "iteration", "objective", "seconds"]
    assert [record["iteration"] for record in result.history] == [1, 2, 3]
    assert all(record["seconds"] >= 0 for record in result.history)


@pytest.mark.parametrize(("fixed", "status"), [(False, Status.MAX_ITER), (True, Status.COMPLETED)])
def test_maximum_number_of_iterations(fixed, status):
    result = iterate(halve, 1.0, max_iter=2, fixed=fixed)
    assert (result.state, result.status) == (0.25, status)
    assert "stage" not in result.history[0]


def test_callback_stops_after_the_iteration_and_takes_precedence():
    records = []

    def callback(record):
        records.append(record)
        return len(records) == 3

    result = iterate(halve, 1.0, max_iter=10, callback=callback)
    assert result.status is Status.STOPPED
    assert all(a is b for a, b in zip(records, result.history, strict=True))


def test_a_lazy_matrix_is_read_once_for_consecutive_products():
    first, second, recent, reads = np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(2), {}, []
    A, B = (LazyMatrix(lambda M=M: reads.append(M) or M, (2, 2), recent) for M in (first, second))
    np.testing.assert_array_equal(A @ second, first)
    np.testing.assert_array_equal(A.T @ second, first.T)
    assert len(reads) == 1
    np.testing.assert_array_equal(loaded(B), second)
    np.testing.assert_array_equal(loaded(A), first)
    assert len(reads) == 3
    assert loaded(first) is first
