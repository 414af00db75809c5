"""Fixtures for all tests."""

import pytest

from spmld.datasets import find_file, read_mat


@pytest.fixture(scope="session")
def real():
    """A reader of the paper's data sets by name, which skips the test where they are not to be found."""

    def read(name):
        try:
            return read_mat(find_file(f"{name}.mat"))
        except FileNotFoundError as error:
            pytest.skip(f"real data: {error}")

    return read
