"""Variables of MATLAB files, read in a process of their own."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld.datasets import mat_converter

_MEMORY, _SECONDS = 4 * 2**30, 60
_VARIABLES = ("train", "test", "data", "partial_labels", "target")


def load_variables(file: Path) -> dict[str, Any]:
    """Return the variables of a MATLAB file that a data set may have; cells are lists and structs are dictionaries.

    The file is read in another process, which takes about 0.3 s to start. On Unix, its memory is limited to 4 GiB and
    20 times the size of the file; its time is limited to a minute and a second for each MB. Frozen programs have no
    Python interpreter to start and read the file in their own process.
    """
    if getattr(sys, "frozen", False) or not sys.executable:  # there is no Python to run
        return mat_converter.read_variables(str(file), _VARIABLES)
    size = file.stat().st_size
    memory, seconds = _MEMORY + 20 * size, _SECONDS + size / 1e6
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "content.npz")
        program = [sys.executable, "-P", mat_converter.__file__, str(file), str(archive), str(memory), *_VARIABLES]
        path = os.pathsep.join(part for part in sys.path if part)
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                program, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            raise ValueError(f"the file is damaged: reading it takes longer than {seconds:.0f} s") from None
        if done.returncode == mat_converter.OUT_OF_MEMORY:
            raise ValueError(f"the file is damaged or too large: it needs more than {memory / 2**30:.1f} GiB of memory")
        if done.returncode == mat_converter.FAILED:
            raise ValueError(done.stderr.strip())
        if done.returncode:
            raise ValueError(f"the file is damaged: SciPy's reader ended with exit status {done.returncode}")
        with np.load(archive, allow_pickle=False) as arrays:
            tree = json.loads(str(arrays["tree"]))
            return {name: _build(value, arrays) for name, value in tree.items()}


def _build(tree: Any, arrays: Any) -> Any:
    if isinstance(tree, int):
        return arrays[str(tree)]
    if isinstance(tree, list):
        return [_build(item, arrays) for item in tree]
    if "sparse" in tree:
        data, indices, indptr, shape = (arrays[str(tree["sparse"] + i)] for i in range(4))
        return sp.csc_array((data, indices, indptr), shape=tuple(shape))
    return {name: _build(item, arrays) for name, item in tree["struct"].items()}
