"""Model files: saving, loading, and reading their description.

A model file is an archive of skops, which skops can read too, with a description of the model in ``spmld.json``. The
checksums of the archive detect damaged files.
"""

import io
import json
import sys
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

import spmld
from spmld._io import StrPath, need, reading, shorten, writing
from spmld.estimators.model_parts import check_names, encoder_of, feature_names_of, label_names_of, shape_of
from spmld.export.contents import as_array, check_arrays, import_object, is_trusted, replace_parts, without_callback

_KIND = "a model file of spmld"
_DESCRIPTION = "spmld.json"
_FORMAT = 3
MAX_JSON = 256 * 10**6
"""Maximum number of bytes of each description in JSON, which a damaged or forged file can expand to gigabytes."""


class ModelFileError(ValueError):
    """Error for a file that is not a model file, is damaged, or contains untrusted types.

    Examples
    --------
    >>> import tempfile, spmld
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open(folder + "/model.skops", "w").close()
    ...     spmld.load(folder + "/model.skops")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spmld.export.model_file.ModelFileError: ...model.skops is empty, expected a model file of spmld
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


@dataclass(frozen=True)
class ModelInfo:
    """Description of a model in a model file.

    Attributes
    ----------
    estimator, version, created : str
        Name of the class, version of spmld that wrote the file, and date and time in UTC.
    n_features, n_labels : int or None
        Numbers of features and labels, if known.
    feature_names, label_names : list of str or None
        Names of the features and labels, if known.
    encoded : bool
        Whether the model begins with a `TableEncoder` or `ColumnTransformer`, and is applied to tables with the columns
        `feature_names`.
    params : dict
        Constructor parameters. Values that are not numbers or strings are given by their repr.
    summary : dict
        The `summary` passed to `save`.
    libraries : dict
        Versions of Python and the libraries that wrote the file.
    format : int
        Version of the file format.

    Examples
    --------
    See `model_info`.
    """

    estimator: str
    version: str
    created: str
    n_features: int | None = None
    n_labels: int | None = None
    feature_names: list[str] | None = None
    label_names: list[str] | None = None
    encoded: bool = False
    params: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    format: int = _FORMAT


def save(
    model: Any,
    path: StrPath,
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file.

    If writing fails, no incomplete file is left and an existing file does not change. Torch tensors are written as
    NumPy arrays, so that the file can be loaded without torch; the loaded model accepts tensors as before.

    Parameters
    ----------
    model : fitted estimator
        An estimator of this package or of scikit-learn. An error is raised if skops cannot write a part of
        it, such as a user-defined function.
    path : str or path-like
        File to write. An existing file is replaced.
    label_names, feature_names : sequence of str, optional
        Names of the labels and features. By default, those seen during fit.
    summary : mapping, optional
        Information about the training, such as the data and the metrics, in types that JSON supports.

    Warns
    -----
    UserWarning
        If the file contains types that `load` does not trust by default, or if the model has a callback, which is not
        written.

    Examples
    --------
    >>> import tempfile, spmld
    >>> model = spmld.LabelPrior().fit([[0], [1]], [[1, 0], [0, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spmld.save(model, folder + "/prior.skops")
    ...     spmld.load(folder + "/prior.skops").prior_
    array([0.5 , 0.25])
    """
    skops = _import_skops()
    check_is_fitted(model)
    file = Path(path)
    if file.is_dir():
        raise ModelFileError(f"{file} is a folder; pass the name of a file")
    original = model
    model = replace_parts(model, without_callback)
    if model is not original:
        warnings.warn(f"The callback of {type(model).__name__} is not written to {file}", stacklevel=2)
    info = _describe(model, label_names, feature_names, summary)
    try:
        # Compressed, because the JSON in which skops describes a model is long and repetitive.
        content = skops.dumps(replace_parts(model, as_array), compression=zipfile.ZIP_DEFLATED)
        untrusted = [name for name in skops.get_untrusted_types(data=content) if not is_trusted(name)]
    except (TypeError, AttributeError, NotImplementedError, ValueError) as error:
        raise ModelFileError(f"{info.estimator} cannot be written to {file}: {error}") from error
    unnamed = [name for name in untrusted if import_object(name) is None]
    if unnamed:
        raise ModelFileError(
            f"{info.estimator} cannot be written to {file}: {', '.join(unnamed)} cannot be imported. Functions are "
            "stored by name: replace lambda functions and methods by functions of a module"
        )
    if untrusted:
        warnings.warn(
            f"{file} has untrusted types or functions: load it with spmld.load(path, trusted={untrusted}), or use it "
            "with --trust-type",
            stacklevel=2,
        )
    archive = io.BytesIO(content)
    with zipfile.ZipFile(archive, "a", compression=zipfile.ZIP_DEFLATED) as parts:
        parts.writestr(_DESCRIPTION, json.dumps(asdict(info), indent=2, ensure_ascii=False))
    with writing(file) as part:
        part.write_bytes(archive.getvalue())


def load(path: StrPath, *, trusted: Sequence[str] = ()) -> Any:
    """Load a model from a file written by `save`. No code from the file is executed.

    Parameters
    ----------
    path : str or path-like
        File to read.
    trusted : sequence of str, default=()
        Full names of types to trust in addition to those of spmld and skops. The error for a file with other types
        names them. Trust only types that you know, in files from a source that you trust, because loading creates
        objects of these types.

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, has a different file format or a newer major version, or contains
        untrusted types.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    See `save`.
    """
    if isinstance(trusted, str) or not all(isinstance(name, str) for name in trusted):
        raise ValueError(shorten(f"trusted must be a list of type names, got {trusted!r}"))
    content, _ = _read(path)  # raises an error for other versions before any part of the model is read
    skops = _import_skops()
    try:
        types = skops.get_untrusted_types(data=content)
        untrusted = [name for name in types if name not in trusted and not is_trusted(name)]
        if not untrusted:
            model = skops.loads(content, trusted=types)
            check_arrays(model)
    except Exception as error:  # skops raises many kinds of errors for invalid files
        raise ModelFileError(f"{path} cannot be read as {_KIND}: {error}") from error
    if untrusted:
        raise ModelFileError(
            f"{path} has untrusted types or functions: {', '.join(untrusted)}. Those of spmld and skops are trusted. "
            f"If you know these and the source of the file, pass trusted={untrusted}, or on the command line "
            f"--trust-type {untrusted[0]}"
        )
    return model


def model_info(path: StrPath) -> ModelInfo:
    """Read the description of a model from a file written by `save`. No model is loaded.

    Parameters
    ----------
    path : str or path-like
        File to read. Errors are those of `load`.

    Examples
    --------
    >>> import tempfile, spmld
    >>> model = spmld.LabelPrior().fit([[0], [1]], [[1, 0], [0, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spmld.save(model, folder + "/prior.skops", label_names=["sad", "calm"], summary={"data": "songs"})
    ...     info = spmld.model_info(folder + "/prior.skops")
    >>> info.estimator, info.label_names, info.summary
    ('LabelPrior', ['sad', 'calm'], {'data': 'songs'})
    """
    return _read(path)[1]


def _import_skops() -> Any:
    """Import skops, which imports all modules of scikit-learn, without the wrappers of torch and Dask among them.

    These would import the libraries, which takes most of the time, and contain no estimators.
    """
    wrappers = [f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask")]
    absent = [name for name in wrappers if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # importing None is an ImportError
    try:
        return need("skops.io", "files")
    finally:
        for name in absent:
            sys.modules.pop(name, None)


def _describe(model: Any, label_names: Any, feature_names: Any, summary: Mapping[str, Any] | None) -> ModelInfo:
    n_features, n_labels = shape_of(model)
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    try:
        plain_summary = json.loads(json.dumps(dict(summary or {}), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(shorten(f"summary must contain types that JSON supports, got {summary!r}: {error}")) from None
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "skops")}
    return ModelInfo(
        estimator=type(model).__name__,
        version=spmld.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        n_features=n_features,
        n_labels=n_labels,
        feature_names=check_names(feature_names, n_features, "feature") or feature_names_of(model),
        label_names=check_names(label_names, n_labels, "label") or label_names_of(model),
        encoded=encoder_of(model) is not None,
        params={name: _plain(value) for name, value in params.items()},
        summary=plain_summary,
        libraries={"python": sys.version.split()[0], **libraries},
    )


def _plain(value: Any) -> Any:
    finite = not isinstance(value, float) or abs(value) < float("inf")
    return value if finite and isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def _read(path: StrPath) -> tuple[bytes, ModelInfo]:
    """Return the content of a model file, and its description."""
    try:
        with reading(path, _KIND) as file:
            content = file.read_bytes()
            if content[:1] == b"\x80":
                raise ValueError("it is a pickle, which can execute arbitrary code; use spmld.save")
            if content[:2] != b"PK":
                raise ValueError(f"it starts with {content[:8]!r}, expected a zip archive")
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if _DESCRIPTION not in archive.namelist():
                    raise ValueError(f"it has no {_DESCRIPTION}; load files of skops with skops.io.load")
                _check_sizes(archive)
                description = json.loads(archive.read(_DESCRIPTION))
            names = {item.name for item in fields(ModelInfo)}
            info = ModelInfo(**{name: value for name, value in description.items() if name in names})
            major = _major(info.version)
            file_format = int(description["format"])
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    if file_format != _FORMAT or major > _major(spmld.__version__):
        raise ModelFileError(
            f"{path} was written by spmld {info.version} in file format {file_format}. This is spmld "
            f"{spmld.__version__}, which reads format {_FORMAT} of this major version and older ones. "
            f"{'Fit and save the model again' if file_format < _FORMAT else 'Upgrade spmld'}"
        )
    return content, info


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise ValueError if a description in JSON is too large."""
    for part in archive.infolist():
        if part.filename.endswith(".json") and part.file_size > MAX_JSON:
            raise ValueError(f"{part.filename} has {part.file_size / 1e6:,.0f} MB, of at most {MAX_JSON / 1e6:,.0f} MB")


def _major(version: str) -> int:
    return int(version.split(".")[0])
