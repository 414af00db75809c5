"""Program that converts a MATLAB file to a NumPy archive, in a process of its own with a limit on its memory.

SciPy's reader can crash on damaged files, which ends the process. Arguments: the file, the archive, the limit in bytes,
and the names of variables. The archive has numbered arrays without pickled objects, and ``tree``, which is JSON: an
array is its number, a sparse matrix is ``{"sparse": number}``, cells are lists and structs are
``{"struct": {name: value}}``.

`spmld.datasets.read_mat` runs this file by its path. It imports only NumPy and SciPy, to start fast.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

FAILED = 3
"""Exit status if the file cannot be read; the reason is the standard error."""
OUT_OF_MEMORY = 4
"""Exit status if the limit is reached."""


def read_variables(source: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the variables of a MATLAB file with these names, in this process."""
    content = scipy.io.loadmat(source, appendmat=False, simplify_cells=True, variable_names=list(names))
    return {name: content[name] for name in names if name in content}


def _add(value: Any, arrays: list[Any]) -> Any:
    """Return the tree of a value; its arrays are appended."""
    if isinstance(value, dict):
        return {"struct": {str(name): _add(item, arrays) for name, item in value.items()}}
    if isinstance(value, list) or (isinstance(value, np.ndarray) and value.dtype.hasobject):
        return [_add(item, arrays) for item in value]
    if sp.issparse(value):
        matrix = sp.csc_array(value)
        arrays += [matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape)]
        return {"sparse": len(arrays) - 4}
    arrays.append(np.asarray(value))
    return len(arrays) - 1


def _main(source: str, target: str, limit: str, *names: str) -> int:
    with suppress(ImportError, OSError, ValueError):  # not on every platform
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    try:
        arrays: list[Any] = []
        tree = json.dumps({name: _add(value, arrays) for name, value in read_variables(source, names).items()})
        np.savez(target, allow_pickle=False, tree=np.array(tree), **{str(i): array for i, array in enumerate(arrays)})
    except MemoryError:
        return OUT_OF_MEMORY
    except Exception as error:  # SciPy raises many kinds of errors for damaged files
        print(error, file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
