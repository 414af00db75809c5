import sys

import numpy as np
import pytest

from studies import memory
from studies.memory import peak_memory, reset_peak_memory


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


def test_without_proc_the_peak_is_that_of_the_process(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "status")
    monkeypatch.setattr(memory, "_RESET", tmp_path / "absent" / "clear_refs")
    reset_peak_memory()
    peak = peak_memory()
    assert peak > 10
    (tmp_path / "status").write_text("Name: python\n")
    assert peak_memory() >= peak
    (tmp_path / "status").write_text("Name: python\nVmHWM:  2048 kB\n")
    assert peak_memory() == 2
    (tmp_path / "status").unlink()
    monkeypatch.setattr(sys, "platform", "darwin")  # where it is counted in bytes
    assert peak_memory() == pytest.approx(peak / 1024, rel=0.5, abs=0.1)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory() is None
