"""ARFF files, dense and sparse, with labels named by MULAN's XML file or MEKA's header."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import StrPath, need, reading, writing
from spmld.datasets.dataset import Dataset
from spmld.labels.words import to_number


def read_arff(
    path: StrPath, *, labels: Sequence[str] | None = None, xml: StrPath | None = None, encoding: str = "utf-8"
) -> Dataset:
    r"""Read an ARFF file.

    The names of the labels are taken from the first available source: `labels`, `xml`, an XML file with the same name
    in the same folder (ignoring ``-train``, ``-test`` and ``-sparse``), or MEKA's ``-C n`` in the relation, which
    selects the first n attributes, or the last if n is negative.

    Parameters
    ----------
    path : str or path-like
        File to read.
    labels : sequence of str, optional
        Names of the attributes that are labels.
    xml : str or path-like, optional
        MULAN's XML file with the names of the labels.
    encoding : str, default="utf-8"
        Encoding of the file.

    Returns
    -------
    Dataset
        Labels in the order of the file. Features are sparse if the file is sparse.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_arff
    >>> with tempfile.NamedTemporaryFile("w", suffix=".arff") as file:
    ...     head = ["@relation 'songs: -C 2'", "@attribute sad {0,1}", "@attribute calm {0,1}", "@attribute pitch real"]
    ...     print(*head, "@data", "{0 1,2 0.5}", "{1 ?,2 0.25}", sep="\n", file=file, flush=True)
    ...     data = read_arff(file.name)
    >>> data.label_names, data.feature_names
    (['sad', 'calm'], ['pitch'])
    >>> data.Y
    array([[ 1.,  0.],
           [ 0., nan]])
    """
    arff = need("arff")
    with reading(path, "an ARFF file") as file:
        text = file.read_text(encoding=encoding).lstrip("\ufeff")
        sparse = re.search(r"(?im)^\s*@data\b.*\s(?:\s*%.*\s)*\s*\{", text) is not None
        content = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
        if not content["data"]:
            raise ValueError("the file has no samples after @data")
        names = [name for name, _ in content["attributes"]]
        label_columns = _find_labels(names, content["relation"], labels, xml or _find_xml(file))
        feature_columns = [i for i in range(len(names)) if i not in set(label_columns)]
        to_array: Any = _to_sparse if sparse else _to_dense
        X, Y = (to_array(content["data"], content["attributes"], part) for part in (feature_columns, label_columns))
        features, labels = ([names[i] for i in part] for part in (feature_columns, label_columns))
        return Dataset(X, Y.toarray() if sp.issparse(Y) else Y, features, labels, file.stem)


def _find_xml(file: Path) -> Path | None:
    stem = re.sub(r"(-sparse|-train|-test)+$", "", file.stem)
    candidates = (file.with_name(f"{name}.xml") for name in (file.stem, stem))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _find_labels(names: list[str], relation: str, labels: Any, xml: Any) -> list[int]:
    if labels is None and xml is not None:
        with reading(xml, "MULAN's XML file of labels") as file:
            labels = [node.get("name") for node in ET.parse(file).iter() if node.tag.rpartition("}")[2] == "label"]
    if labels is not None:
        absent = [name for name in labels if name not in set(names)]
        if absent or not len(labels):
            source = f" in {xml}" if xml else ""
            problem = f"{absent[0]!r} is not among its {len(names)} attributes" if absent else "the list is empty"
            raise ValueError(f"{len(labels)} labels are named{source}, but {problem}")
        return [i for i, name in enumerate(names) if name in set(labels)]
    header = re.search(r"-C\s+(-?\d+)", relation)
    if header is None:
        raise ValueError(
            "cannot determine the labels: pass labels= or xml=, as there is no XML file and no -C in the relation"
        )
    if "weka.filters.unsupervised.attribute" in relation:
        raise ValueError(
            f"the relation has -C {header[1]}, but attributes were moved or removed afterwards: pass labels= or xml="
        )
    count = int(header[1])
    if not 0 < abs(count) < len(names):
        raise ValueError(f"the relation has -C {count}, which must be between 1 and {len(names) - 1} in absolute value")
    return list(range(count)) if count > 0 else list(range(len(names) + count, len(names)))


def _codes(name: str, kind: Any) -> dict[Any, float]:
    """Return the numeric code of each value of a nominal attribute."""
    if isinstance(kind, str):
        if kind == "STRING":
            raise ValueError(f"attribute {name!r} is a string; features and labels must be numbers")
        return {}
    try:
        return {value: to_number(value) for value in kind}
    except ValueError:
        raise ValueError(
            f"attribute {name!r} has the values {', '.join(kind)}, which are not numbers: encode it as one attribute "
            "of 0 and 1 for each value"
        ) from None


def _to_dense(rows: list[list[Any]], attributes: list[tuple[str, Any]], columns: list[int]) -> NDArray[np.float64]:
    values = np.empty((len(rows), len(columns)))
    for i, column in enumerate(columns):
        codes = _codes(*attributes[column])
        values[:, i] = [np.nan if row[column] is None else codes.get(row[column], row[column]) for row in rows]
    return values


def _to_sparse(rows: list[dict[int, Any]], attributes: list[tuple[str, Any]], columns: list[int]) -> Any:
    codes = [_codes(*attributes[column]) for column in columns]
    place = {column: i for i, column in enumerate(columns)}
    # Values that a sparse row omits are 0 for numeric attributes, and the first value for nominal ones.
    default = np.array([next(iter(code.values()), 0.0) for code in codes])
    entries = [(i, place[j], value) for i, row in enumerate(rows) for j, value in row.items() if j in place]
    at_row, at_column = (np.array([entry[k] for entry in entries], dtype=np.intp) for k in (0, 1))
    stored = np.array([np.nan if value is None else codes[j].get(value, value) for _, j, value in entries], dtype=float)
    shape = (len(rows), len(columns))
    values = sp.csr_array((stored - default[at_column], (at_row, at_column)), shape=shape)
    values.eliminate_zeros()
    return values.toarray() + default if default.any() else values


def write_arff(data: Dataset, path: StrPath) -> None:
    """Write an ARFF file with the labels last and MEKA's ``-C``, sparse if the features are; see `write_dataset`.

    Examples
    --------
    See `write_dataset`.
    """
    arff = need("arff")
    d, l = data.X.shape[1], data.Y.shape[1]
    both = sorted(set(data.feature_names) & set(data.label_names))
    if both:
        raise ValueError(f"ARFF needs different names for features and labels, but {both[0]!r} is the name of both")
    # liac-arff strips quotes from names, and cannot read names with tabs or line breaks.
    invalid = [name for name in (*data.feature_names, *data.label_names) if re.search(r"^['\"]|['\"]$|[\t\r\n]", name)]
    if invalid:
        raise ValueError(
            f"ARFF cannot store the name {invalid[0]!r}, because it starts or ends with a quote or contains a tab"
        )
    attributes: list[tuple[str, Any]] = [(name, "NUMERIC") for name in data.feature_names]
    attributes += [(name, ["0", "1"]) for name in data.label_names]
    words = {0.0: "0", 1.0: "1"}
    rows: list[Any] = []
    for i in range(len(data.Y)):
        labels = [words.get(float(value)) for value in data.Y[i]]
        if sp.issparse(data.X):
            row = data.X[[i]]
            order = np.argsort(row.indices)
            features = zip(row.indices[order].tolist(), _or_none(row.data[order]), strict=True)
            rows.append(dict(features) | {d + j: value for j, value in enumerate(labels) if value != "0"})
        else:
            rows.append(_or_none(data.X[i]) + labels)
    relation = f"{data.name or 'data'}: -C {-l}"
    with writing(path) as part, part.open("w", encoding="utf-8") as file:
        arff.dump({"relation": relation, "attributes": attributes, "data": rows}, file)


def _or_none(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]
