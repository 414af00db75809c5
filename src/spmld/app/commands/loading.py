"""Loading of data sets, with the options of a command."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need
from spmld._table import from_csv_text
from spmld.app.commands.printing import list_first, print_message
from spmld.datasets import Dataset, load_dataset, read_hierarchy
from spmld.datasets.files import file_format
from spmld.datasets.frames import from_frame, identifier_text, sample_names
from spmld.datasets.hierarchies import resolve_contradictions, with_hierarchy
from spmld.labels.tags import show_separators
from spmld.tables import TableEncoder, TableError, TableRoles, TableWarning, read_table
from spmld.tables.errors import TableProblem
from spmld.tables.reading import TABLE_FORMATS, check_options, read_table_blocks, table_format
from spmld.tables.roles import PREFIX, ROLES, read_label_columns
from spmld.tables.vectors import read_vectors

if TYPE_CHECKING:
    from spmld.export import ModelInfo

FILE_OPTIONS = ("sep", "decimal", "encoding", "sheet")
"""Options of the readers of tables, in addition to the roles of the columns."""
_SHARED_OPTIONS: tuple[str, ...] = ("sep", "encoding", "sheet")
MIN_TRAINING_SAMPLES = 3
"""Minimum number of samples of a fit, one for each fold."""


@dataclass(frozen=True)
class Source:
    """Data set of a command: file or name, part of the official split, options of the reader, and verified entries.

    `default_part` is used without a part, `trusted` is a column or a file, and `hierarchy` is a file. `allow_missing`
    applies to the features of a model.
    """

    path: str
    part: Literal["all", "train", "test"] | None
    default_part: str
    options: dict[str, Any]
    trusted: str | None = None
    hierarchy: str | None = None
    allow_missing: bool = False

    @property
    def name(self) -> str:
        """Name of the file without its folders."""
        return Path(self.path).name

    def command(self, *arguments: str, roles: bool = True) -> str:
        """Return the path, other arguments, and the options as they are written on the command line.

        Without `roles`, only the options of the file are included, not the roles of its columns.
        """
        names = {"format": "from", "labels": "label", "path_sep": "hierarchy"}
        words = [self.path, *arguments]
        for name, value in self.options.items():
            if not roles and name not in ("format", *FILE_OPTIONS):
                continue
            option = f"--{names.get(name, name).replace('_', '-')}"
            for item in value if isinstance(value, list) else [value]:
                words += [option] if item is True else [option, str(item)]
        for option in ("trusted", "hierarchy") if roles else ():
            words += [f"--{option}", getattr(self, option)] if getattr(self, option) else []
        return shlex.join(words)

    @property
    def table_kind(self) -> str | None:
        """Format of a table; None for other formats and for data sets of the registry."""
        return table_format(self.path, self.options.get("format"))

    @property
    def roles(self) -> dict[str, Any]:
        """Roles of the columns that are set by options; the array of a .npy file is a column, too."""
        roles = {name: value for name, value in self.options.items() if name in ROLES}
        if files := self._vector_files:
            roles["vectors"] = [name for name in roles["vectors"] if name not in files.values()] + list(files)
        return roles

    @property
    def _vector_files(self) -> dict[str, str]:
        """The .npy files of --vectors, by the column that they become: vectors, vectors2, ..."""
        files = [name for name in self.options.get("vectors", ()) if name.endswith(".npy")]
        return {f"vectors{number if number > 1 else ''}": file for number, file in enumerate(files, start=1)}

    @property
    def file_settings(self) -> dict[str, str]:
        """Format and options of the file that apply to other files of this format, too; empty without options."""
        settings: dict[str, str] = {name: self.options[name] for name in _SHARED_OPTIONS if name in self.options}
        return {"format": str(self._file_format), **settings} if settings else {}

    @property
    def _file_format(self) -> str | None:
        return self.table_kind or file_format(self.path, self.options.get("format"))

    def like_fit(self, info: ModelInfo) -> Source:
        """Return the source with the file options of a model's training data, unless the file has another format."""
        stored = info.summary.get("file", {})
        settings = {name: stored[name] for name in _SHARED_OPTIONS if name in stored and name not in self.options}
        if not settings or stored["format"] != self._file_format:
            return self
        shown = shlex.join(word for name, value in settings.items() for word in (f"--{name}", value))
        print_message(f"spmld: note: {self.path} is read with the options of the fit, {shown}")
        return replace(self, options={**settings, **self.options})

    def load(self, default_part: Any = None) -> Dataset:
        """Load all samples; with a default, those of --part, or else of this part if there is an official split."""
        column = None
        if self.trusted is not None and "annotator" in self.options:
            raise ValueError("--trusted cannot be combined with --annotator; leave out one of them")
        if self.allow_missing:
            raise ValueError(f"--allow-missing requires a model and a table, and {self.path} is read without them")
        if self.table_kind is None:
            if "path_sep" in self.options:
                raise ValueError(f"--hierarchy must be a file, since {self.path} is no table; got a separator of paths")
            data = load_dataset(self.path, progress=sys.stderr.isatty(), **self.options)  # nosec B615
        else:
            (frame,) = self.read_blocks(self.table_kind)
            column = self.trusted if self.trusted in frame.columns else None
            name = self.name.partition(".")[0]
            data = from_frame(frame, name=name, source=self.path, **{**self.roles, "trusted": column})
            if data.roles.tags is not None:
                tags = data.roles.tags
                used = show_separators(data.roles.tag_sep or ())
                separated = f"tags of {tags!r} are separated by {used}; " if used else ""
                meaning = "a negative of lower weight" if data.roles.untagged == "weak" else data.roles.untagged
                text = f"{separated}a tag that is not listed in {tags!r} is {meaning} (see --untagged)"
                warnings.warn(TableWarning(TableProblem(text)), stacklevel=2)
        is_read = column is not None and column.removeprefix(data.roles.prefix) not in data.label_names
        if self.trusted is not None and not is_read:
            data = replace(data, trusted=self.read_trusted(data))
        if self.hierarchy is not None:
            data = _add_hierarchy(data, self.hierarchy)
        if default_part is None:
            return data
        return data.part(self.part or (default_part if data.train is not None else "all"))

    def read_blocks(self, kind: str, n_rows: int | None = None) -> Iterator[Any]:
        """Yield a table as DataFrames of `n_rows` rows, by default as one; raise ValueError for unknown options."""
        options = {name: value for name, value in self.options.items() if name != "format"}
        accepted = TABLE_FORMATS[kind].options
        check_options(options, [*accepted, *ROLES], f"{self.path} is read as {kind}")
        used = {name: options[name] for name in accepted if name in options}
        frames = read_table_blocks(self.path, format=kind, n_rows=n_rows, **used)
        yield from self._with_vectors(frames) if self._vector_files else frames

    def _with_vectors(self, frames: Iterator[Any]) -> Iterator[Any]:
        """Add the arrays of --vectors as columns of lists to the blocks of a table."""
        arrays = {name: read_vectors(file) for name, file in self._vector_files.items()}
        n_read = 0
        for frame in frames:
            rows = slice(n_read, n_read + len(frame))
            n_read += len(frame)
            if repeated := [name for name in arrays if name in frame.columns]:
                raise ValueError(f"--vectors adds a column {repeated[0]!r}, which {self.path} has already; rename it")
            self._check_rows(arrays, n_read, whole=False)
            yield frame.assign(**{name: list(array[rows]) for name, array in arrays.items()})
        self._check_rows(arrays, n_read, whole=True)

    def _check_rows(self, arrays: dict[str, NDArray[Any]], n_read: int, *, whole: bool) -> None:
        """Raise ValueError if an array has fewer rows than were read, or more than the whole table."""
        for name, array in arrays.items():
            if len(array) < n_read or (whole and len(array) > n_read):
                file = self._vector_files[name]
                count = f"{'' if whole else 'at least '}{n_read}"
                raise ValueError(
                    f"--vectors {file} must have one row for each sample of {self.path}, {count}, got {len(array)}"
                )

    def load_part(self, folds: int | None = None) -> Dataset:
        """Load the samples to fit on: the part, or all if there is no official split."""
        data = self.load(self.default_part)
        if data.X.shape[0] < MIN_TRAINING_SAMPLES:
            raise ValueError(f"{self.path} must have at least {MIN_TRAINING_SAMPLES} samples, got {data.X.shape[0]}")
        data = self.prepare(data)
        if folds is not None and folds > data.X.shape[0]:
            n = data.X.shape[0]
            raise ValueError(f"--folds must be at most the number of samples in {self.path}, {n}, got {folds}")
        return data

    def prepare(self, data: Dataset) -> Dataset:
        """Return the data for a fit: missing features are encoded, and labels do not contradict their hierarchy."""
        if not sp.issparse(data.X) and np.isnan(data.X).any():
            table = frames(data)[0]
            encoder = TableEncoder(number=list(table.columns[table.notna().any()])).fit(table)
            names = list(encoder.get_feature_names_out())
            data = replace(
                data, X=encoder.transform(table), feature_names=names, encoder=encoder, columns=encoder.kinds_
            )
            print_message(f"spmld: note: {self.path} has missing features, which are replaced by medians")
        self.check_finite(data.X, list(data.feature_names), "fill them, or remove the column with --drop")
        if data.hierarchy is None:
            return data
        names = list(data.label_names)
        Y = resolve_contradictions(data.hierarchy, data.Y, names, data.sample_names)
        n_implied = int(np.isnan(Y).sum() - np.isnan(data.hierarchy.infer(Y, names)).sum())
        n_children = len({child for _, child in data.hierarchy.edges})
        print_message(
            f"spmld: note: the hierarchy of {self.hierarchy or self.path} is used: {n_children} of {len(names)} labels "
            f"have a parent, and {n_implied} missing labels are implied by others"
        )
        return replace(data, Y=Y, trusted=None if data.trusted is None else data.trusted & (data.Y == Y))

    def check_finite(self, X: Any, names: list[str], advice: str, offset: int = 0) -> None:
        """Raise ValueError if X is not finite; `offset` is the number of samples before those of X."""
        if np.isfinite(X.data if sp.issparse(X) else X).all():
            return
        rows, columns = np.nonzero(~np.isfinite(X.toarray() if sp.issparse(X) else X))
        raise ValueError(
            f"{self.path}: features must be finite numbers, but {len(rows)} are empty or infinite, the first in sample "
            f"{offset + rows[0]}, feature {names[columns[0]]}: {advice}"
        )

    def read_trusted(self, data: Dataset) -> NDArray[np.bool_]:
        """Return the verified entries of a file, which is a table with a column for each label."""
        file = str(self.trusted)
        if not Path(file).is_file():
            is_label = file.removeprefix(PREFIX if data.roles is None else data.roles.prefix) in data.label_names
            raise ValueError(
                "--trusted must be a column of a table with 1 for each verified sample, or a file with 1 for each "
                f"verified label, got {file!r}, which is {'a label' if is_label else 'neither a column nor a file'} of "
                f"{self.path}"
            )
        kind = table_format(file)
        if kind is None:
            raise ValueError(f"--trusted must be a table, such as a .csv, .tsv or .parquet file, got {file}")
        encoding = {"encoding": self.options["encoding"]} if kind == "csv" and "encoding" in self.options else {}
        frame = read_table(file, format=kind, **encoding).rename(columns=from_csv_text)
        roles = TableRoles(prefix=self.options.get("prefix", PREFIX))
        content = read_label_columns(frame, roles, list(data.label_names))
        if content.problems:
            raise TableError(content.problems, file)
        mask = _match_samples(file, frame, content.Y == 1, data, self.path)
        if mask.shape != data.Y.shape:
            raise ValueError(
                f"--trusted {file} must have the shape of the labels of {self.path}, {data.Y.shape}, got {mask.shape}; "
                "write one row for each sample and one column for each label"
            )
        return mask


def _add_hierarchy(data: Dataset, file: str) -> Dataset:
    """Return a data set with the hierarchy in a file, and print the labels that it adds to tags."""
    hierarchy = read_hierarchy(file)
    try:
        with_labels = with_hierarchy(data, hierarchy)
    except ValueError as error:
        raise ValueError(f"--hierarchy {file}: {error}") from None
    if added := list(with_labels.label_names[len(data.label_names) :]):
        print_message(f"spmld: note: labels of {file} that are no tags are added: {list_first(added)}")
    return with_labels


def _match_samples(file: str, frame: Any, mask: NDArray[np.bool_], data: Dataset, path: str) -> NDArray[np.bool_]:
    """Return the rows in the order of the samples, matched by the identifier if the file has its column.

    Samples that are not in the file are not verified. `path` is the file of the samples.
    """
    id = None if data.roles is None else data.roles.id
    if id is None or id not in frame.columns or data.sample_names is None:
        return mask
    names = [identifier_text(from_csv_text(name)) for name in sample_names(frame, data.roles) or ()]
    rows = list(map(identifier_text, data.sample_names))
    for where, count, others in ((file, Counter(names), set(rows)), (path, Counter(rows), set(names))):
        if repeated := [name for name in count if count[name] > 1 and name in others]:
            shown = repr(repeated[0]) if repeated[0] else "an empty field"
            raise ValueError(
                f"--trusted {file} is matched by the column {id!r}, in which {shown} is repeated in {where}; make the "
                f"identifiers unique, or remove the column from {file} so that its rows are matched by position"
            )
    if not set(names) & set(rows):
        values = ", ".join(names[:3])
        raise ValueError(f"--trusted {file} has no sample of the data: the values of {id!r} are {values}")
    marked = need("pandas").DataFrame(mask, index=names)
    return marked[~marked.index.duplicated()].reindex(rows, fill_value=False).to_numpy()


def frames(data: Dataset) -> tuple[Any, Any]:
    """Return features and labels as DataFrames, so that a model stores their names.

    The index has the names of the samples. Sparse features and those of an encoder are unchanged.
    """
    pandas = need("pandas")
    index = None if data.sample_names is None else pandas.Index(data.sample_names)
    plain = sp.issparse(data.X) or data.encoder is not None
    X = data.X if plain else pandas.DataFrame(data.X, columns=list(data.feature_names), index=index)
    return X, pandas.DataFrame(data.Y, columns=list(data.label_names), index=index)
