"""The demo: both methods are better than the label frequencies, and a figure is drawn."""

import re
import subprocess
import sys


def test_demo_prints_a_table_and_draws_a_figure(tmp_path):
    figure = tmp_path / "demo.png"
    run = subprocess.run(
        [sys.executable, "-m", "spmld.demo", str(figure)], capture_output=True, text=True, timeout=300, check=True
    )
    lines = (re.split(r"\s{2,}", line) for line in run.stdout.splitlines())
    rows = {name: values for name, *values in lines if len(values) == 3}
    prior, glocal, spmld = (float(value) for value in rows["ranking loss -"])
    assert glocal < 0.55 * prior
    assert spmld < 0.55 * prior
    assert float(rows["macro AUC +"][0]) == 0.5
    assert f"Figure: {figure}" in run.stdout
    assert figure.read_bytes()[:4] == b"\x89PNG"
