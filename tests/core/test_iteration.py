"""The outer iteration: records, callback and status."""

import pytest

from spmld.core.iteration import Iterations, Status


def halve(**options):
    """Halve 1 until it is below 0.2."""
    x = 1.0
    iterations = Iterations(**options)
    for _ in iterations:
        x /= 2
        iterations.record({"objective": x}, converged=x < 0.2)
    return iterations.result(x)


def test_iterates_until_convergence_with_one_record_per_iteration():
    result = halve(max_iter=10, stage="main")
    assert result.state == 0.125
    assert result.status is Status.CONVERGED
    assert [record["objective"] for record in result.history] == [0.5, 0.25, 0.125]
    assert list(result.history[0]) == ["stage", "iteration", "objective", "seconds"]
    assert [record["iteration"] for record in result.history] == [1, 2, 3]
    assert all(record["seconds"] >= 0 for record in result.history)


@pytest.mark.parametrize(("fixed", "status"), [(False, Status.MAX_ITER), (True, Status.COMPLETED)])
def test_maximum_number_of_iterations(fixed, status):
    result = halve(max_iter=2, fixed=fixed)
    assert (result.state, result.status) == (0.25, status)
    assert "stage" not in result.history[0]


def test_callback_stops_after_the_iteration_and_takes_precedence():
    records = []

    def callback(record):
        records.append(record)
        return len(records) == 3

    result = halve(max_iter=10, callback=callback)
    assert result.status is Status.STOPPED
    assert all(a is b for a, b in zip(records, result.history, strict=True))
