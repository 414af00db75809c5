"""Writers of the text formats that the library only reads: ARFF and LIBSVM."""

import re
from io import BytesIO

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", **{sign: sign for sign in "\\'\"%"}}


def write_libsvm(X, Y, path, *, sizes=False):
    """Write a LIBSVM file, or one of the extreme-classification repository, which begins with the sizes."""
    content = BytesIO()
    dump_svmlight_file(X, np.asarray(Y), content, zero_based=sizes, multilabel=True)
    head = f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n" if sizes else ""
    path.write_bytes(head.encode() + content.getvalue())


def quote(name):
    """Return a name as it is written in an ARFF file."""
    if re.fullmatch(r"[^\s,{}%'\"\\@?]+", name):
        return name
    return "'" + "".join(f"\\{_ESCAPES[sign]}" if sign in _ESCAPES else sign for sign in name) + "'"


def arff_text(data):
    """Return a data set as the text of an ARFF file, with the labels last; sparse features give sparse rows."""
    names = [*((name, "NUMERIC") for name in data.feature_names), *((name, "{0,1}") for name in data.label_names)]
    lines = [f"@RELATION {quote(f'data: -C {-len(data.label_names)}')}"]
    lines += [f"@ATTRIBUTE {quote(name)} {kind}" for name, kind in names]
    sparse = sp.issparse(data.X)
    for x, y in zip(data.X.toarray() if sparse else data.X, data.Y, strict=True):
        values = [*map(repr, x.tolist()), *("?" if np.isnan(value) else f"{value:.0f}" for value in y)]
        pairs = [f"{i} {value}" for i, value in enumerate(values) if value not in ("0.0", "0")]
        lines.append("{" + ",".join(pairs) + "}" if sparse else ",".join(values))
    return "\n".join([*lines[: len(names) + 1], "@DATA", *lines[len(names) + 1 :]]) + "\n"
