"""The target of an output is checked before any work is done."""

import os
import shutil
from collections import namedtuple

import numpy as np
import pytest

import spmld
from spmld.cli.fitting import expected_size
from spmld.cli.printing import check_output_path, check_space
from spmld.datasets import make_planted

Usage = namedtuple("Usage", "total used free")


def test_a_full_disk_is_an_error_with_the_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 5000, 5000))
    with pytest.raises(OSError, match=r"cannot write .*m.skops: 1.0 MB are needed, but only 0.0 MB are free"):
        check_output_path(str(tmp_path / "m.skops"), force=False)
    check_space(str(tmp_path / "m.skops"), 5000)


def test_folders_and_files_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "old.skops").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path))
    assert check_output_path(str(tmp_path / "old.skops"), force=True)
    (tmp_path / "locked").mkdir()
    with pytest.raises(PermissionError, match="permission denied; choose another folder"):
        check_output_path(str(tmp_path / "locked" / "m.skops"), force=False)


def test_the_expected_size_is_an_upper_estimate(tmp_path):
    data = make_planted(n_samples=300, n_labels=10, random_state=0)
    spmld.save(spmld.SelfPacedEnsemble(random_state=0).fit(data.X, data.Y), tmp_path / "m.skops")
    size = (tmp_path / "m.skops").stat().st_size
    assert size < expected_size(data) < 100 * size
    assert expected_size(data) > 3 * np.prod(data.Y.shape)
