"""Model files: skops' format with a description and a checksum, written whole or not at all.

A file is a zip archive as skops writes it, so that skops alone can read it too, with one more member, ``spmld.json``:
what the model is and what its labels and features are called. See `spmld.persistence.checksum` for the checksum.
"""

from __future__ import annotations

import io
import json
import os
import re
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
from spmld._io import need, writing
from spmld.persistence.checksum import KIND, MEMBER, ModelFileError, read_sealed, seal
from spmld.persistence.names import feature_names_of, label_names_of, shape_of
from spmld.persistence.parts import check_sparse, without_callbacks, without_tensors
from spmld.persistence.trusted import TRUSTED

__all__ = ["ModelFileError", "ModelInfo", "load", "model_info", "save"]

_FORMAT = 1


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of its model.

    Attributes
    ----------
    estimator : str
        Name of the class.
    version : str
        Version of spmld that wrote the file.
    created : str
        When, in UTC.
    n_features, n_labels : int or None
        Sizes, where the model knows them.
    feature_names, label_names : list of str or None
        Names, where they are known.
    params : dict
        Constructor parameters; what is no plain value stands as text.
    summary : dict
        What `save` was told of the training.
    libraries : dict
        Versions of what the model was written with.
    format : int
        Version of the form of the file.

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
    params: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    format: int = _FORMAT


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file, which is complete or absent.

    Torch tensors are written as NumPy arrays: the file loads where there is no torch and no such device, and the model
    takes tensors as before.

    Parameters
    ----------
    model : fitted estimator
        One of this package, or any of scikit-learn's. What skops cannot write, such as a function of yours, is refused.
    path : str or path
        The file. One that is there is replaced.
    label_names, feature_names : sequence of str, optional
        By default the names that the model has from its fit, if there were any.
    summary : mapping, optional
        What there is to know of the training, such as the data and the metrics, as JSON can hold it.

    Warns
    -----
    UserWarning
        If the file holds types that `load` will not trust without being told, or the model has a callback, which is not
        written.

    Examples
    --------
    >>> import tempfile, spmld
    >>> model = spmld.LabelPrior().fit([[0], [1]], [[1, 0], [0, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spmld.save(model, folder + "/prior.skops", label_names=["sad", "calm"], summary={"data": "songs"})
    ...     spmld.load(folder + "/prior.skops").prior_
    array([0.5 , 0.25])
    """
    skops = _skops()
    check_is_fitted(model)
    file = Path(path)
    if file.is_dir():
        raise ModelFileError(f"{file} is a folder, expected the name of a file")
    quiet = without_callbacks(model)
    if quiet is not model:
        warnings.warn(f"the callback of {type(model).__name__} is not written to {file}", stacklevel=2)
        model = quiet
    info = _describe(model, label_names, feature_names, summary)
    try:
        # Compressed: the text in which skops describes a model is long and repeats itself.
        content = skops.dumps(without_tensors(model), compression=zipfile.ZIP_DEFLATED)
        strange = _strange(skops, content, ())
    except (TypeError, AttributeError, NotImplementedError, ValueError) as error:
        raise ModelFileError(f"{info.estimator} cannot be written to {file}: {error}") from error
    if strange:
        ask = f"spmld.load(path, trusted={strange})"
        warnings.warn(f"{file} will load with {ask} only, as these types are not of spmld", stacklevel=2)
    content = seal(content, json.dumps(asdict(info), indent=2, ensure_ascii=False))
    with writing(file) as part:
        part.write_bytes(content)


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read a model that `save` has written. Nothing in the file is run.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : sequence of str
        Full names of types to be trusted beside those of this package and those that skops trusts. The error for a file
        that holds others names them. Trust what you know, from whom you know: objects of a type that is trusted are
        made from what the file says.

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        If the file is empty, no model file, cut short, changed, of a newer major version, or holds what is not trusted.
    FileNotFoundError
        If there is none.

    Examples
    --------
    See `save`.
    """
    if isinstance(trusted, str) or not all(isinstance(name, str) for name in trusted):
        raise ValueError(f"trusted must be a list of names of types, got {trusted!r}")
    content = read_sealed(path)
    _info(path, content)  # a newer version is refused before anything of the model is looked at
    skops = _skops()
    try:
        strange = _strange(skops, content, trusted)
        if not strange:
            model = skops.loads(content, trusted=[*TRUSTED, *trusted])
            check_sparse(model)
    except Exception as error:  # skops raises many kinds for what it cannot make sense of
        raise ModelFileError(f"{path} cannot be read as {KIND}: {error}") from error
    if strange:
        raise ModelFileError(
            f"{path} holds types that are not trusted: {', '.join(strange)}. Accepted are those of spmld and those "
            f"that skops trusts; if you know the file and these types, give trusted={strange}"
        )
    return model


def model_info(path: str | os.PathLike[str]) -> ModelInfo:
    """What a model file says of its model, which is not loaded. The checksum is verified.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    ModelInfo

    Raises
    ------
    ModelFileError
        As `load`.

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
    return _info(path, read_sealed(path))


def _describe(model: Any, label_names: Any, feature_names: Any, summary: Mapping[str, Any] | None) -> ModelInfo:
    n_features, n_labels = shape_of(model)
    features = _names(feature_names, n_features, "feature") or feature_names_of(model)
    labels = _names(label_names, n_labels, "label") or label_names_of(model)
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    try:
        told = json.loads(json.dumps(dict(summary or {}), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"summary must hold what JSON can hold, got {summary!r}: {error}") from None
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "skops")}
    return ModelInfo(
        estimator=type(model).__name__,
        version=spmld.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        n_features=n_features,
        n_labels=n_labels,
        feature_names=features,
        label_names=labels,
        params={name: _plain(value) for name, value in parameters.items()},
        summary=told,
        libraries={"python": sys.version.split()[0], **libraries},
    )


def _names(given: Any, count: int | None, what: str) -> list[str] | None:
    if given is None:
        return None
    names = [str(name) for name in given]
    if count is not None and len(names) != count:
        raise ValueError(f"{what}_names must name the {count} {what}s of the model, got {len(names)}")
    return names


def _plain(value: Any) -> Any:
    finite = not isinstance(value, float) or abs(value) < float("inf")
    return value if finite and isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def _info(path: str | os.PathLike[str], content: bytes) -> ModelInfo:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = json.loads(archive.read(MEMBER))
        written, form = str(found["version"]), int(found["format"])
    except Exception as error:  # a sealed file may still be nonsense
        raise ModelFileError(f"{path} cannot be read as {KIND}: {error!r}") from error
    if form > _FORMAT or _major(written) > _major(spmld.__version__):
        raise ModelFileError(
            f"{path} is written by spmld {written}, in form {form}: this is spmld {spmld.__version__}, which reads "
            f"files of major version {_major(spmld.__version__)} and older, in form {_FORMAT} and older. Upgrade spmld"
        )
    known = {each.name for each in fields(ModelInfo)}
    try:
        return ModelInfo(**{name: value for name, value in found.items() if name in known})
    except TypeError as error:
        raise ModelFileError(f"{path} cannot be read as {KIND}: {error}") from error


def _major(text: str) -> int:
    number = re.match(r"\d+", text)
    return int(number[0]) if number else 0


def _strange(skops: Any, content: bytes, trusted: Sequence[str]) -> list[str]:
    """Names of the types that nobody trusts."""
    return [name for name in skops.get_untrusted_types(data=content) if name not in {*TRUSTED, *trusted}]


def _skops() -> Any:
    return need("skops.io", "files")
