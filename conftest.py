"""Fixtures for all tests."""

import signal
import warnings

import pytest
from hypothesis import HealthCheck, settings

from spmld.datasets.registry import dataset_info, find_file
from studies import data as study_data
from studies.data import read_mat

# No test depends on timing.
settings.register_profile("spmld", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spmld")

# Commands that tests interrupt would inherit an ignored SIGINT, as shells set it for jobs in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real():
    """Return a reader of the paper's data sets by name, which skips the test if they are not available."""

    def read(name):
        try:
            return read_mat(find_file(f"{name}.mat"))
        except FileNotFoundError as error:
            pytest.skip(f"real data: {error}")

    return read


@pytest.fixture(scope="session")
def load():
    """Return a reader of public data sets in SPMLD_DATA, which skips the test if files are absent or differ."""
    kept = {}

    def get(name):
        info = study_data.PAPER_DATA.get(name) or dataset_info(name)
        if name not in kept:
            try:
                for address in info.files:
                    find_file(address.rpartition("/")[2])
            except FileNotFoundError as error:
                pytest.skip(f"real data: {error}")
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a checksum that differs
                kept[name] = study_data.load(name)
        return kept[name]

    return get
