import sys

import numpy as np
import pytest

from spmld.studies.memory import peak_memory, reset_peak_memory


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak cannot start again")
def test_the_peak_is_measured_since_the_reset():
    reset_peak_memory()
    start = peak_memory()
    large = np.ones(2**24)  # 128 MiB
    grown = peak_memory()
    del large
    assert 120 < grown - start < 140
    assert peak_memory() == pytest.approx(grown, abs=1)
    reset_peak_memory()
    assert peak_memory() < start + 20
