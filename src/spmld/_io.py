"""Helpers for files: optional dependencies, error messages that name the file, and atomic writes."""

import glob
import importlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

StrPath: TypeAlias = str | os.PathLike[str]


def need(module: str, extra: str | None = "data") -> Any:
    """Import an optional dependency, or raise an ImportError that names the extra to install, or else the module."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module if extra is None else f'"spmld[{extra}]"'
        raise ImportError(f"{module} is not installed; install it with: pip install {package}") from error


def shorten(message: str, length: int = 2000) -> str:
    """Return an error message with at most `length` characters; the middle of longer ones is left out.

    Examples
    --------
    >>> from spmld._io import shorten
    >>> shorten("0123456789 " * 10, length=33)
    '0123456789 01 [...] 9 0123456789 '
    """
    if len(message) <= length:
        return message
    half = (length - 7) // 2
    return f"{message[:half]} [...] {message[-half:]}"


@contextmanager
def reading(path: StrPath, kind: str) -> Iterator[Path]:
    """Yield the path of an existing, non-empty file. Errors in the block are raised as ValueError with its name."""
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{file} is a folder, expected {kind}")
    if not file.is_file():
        raise FileNotFoundError(f"file {file} does not exist")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty, expected {kind}")
    try:
        yield file
    except (ImportError, PermissionError):
        raise
    except MemoryError as error:
        raise ValueError(f"{file} is damaged, or needs more memory than is available: {error}") from error
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} at position {error.start}"
        hint = "save it as UTF-8, or pass its encoding, such as cp1252 for files of Windows (--encoding cp1252)"
        raise ValueError(f"{file} is not {error.encoding} text ({byte}): {hint}") from error
    except Exception as error:  # libraries raise many types of errors, from KeyError to zlib.error
        raise ValueError(shorten(f"{file} cannot be read as {kind}: {error}")) from error


@contextmanager
def writing(path: StrPath) -> Iterator[Path]:
    """Yield a temporary file in the same folder. It is renamed to `path` if the block succeeds, and deleted if not.

    If `path` is a symbolic link, the file that it points to is written, and the link stays. An OSError in the block,
    such as that of a full disk, is raised with the name of the file. Temporary files of killed processes are deleted
    too, after an hour.
    """
    file = writable(path)
    # The temporary name has the same extension, because some libraries choose the format by it or append their own.
    part = file.with_name(f".{os.getpid()}-part-{file.name}")
    _remove_old_parts(file)
    try:
        yield part
        os.replace(part, file)
    except OSError as error:
        raise write_error(file, error) from error
    finally:
        with suppress(OSError):  # on a disk that has become read-only
            part.unlink(missing_ok=True)


def writable(path: StrPath) -> Path:
    """Return the file that is written for a path; raise an error for folders, pipes and devices, and without a folder.

    Examples
    --------
    >>> from spmld._io import writable
    >>> writable(".")
    Traceback (most recent call last):
    ValueError: . is a folder; pass the name of a file
    """
    file = Path(path)
    if file.is_symlink():  # the file that it points to need not exist
        file = Path(os.path.realpath(file))
    if file.is_dir():
        raise ValueError(f"{file} is a folder; pass the name of a file")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"cannot write {file.name}: folder {file.parent} does not exist")
    if file.exists() and not file.is_file():
        raise ValueError(f"{file} is not a regular file; pass the name of a file")
    return file


def write_error(path: StrPath, error: OSError) -> OSError:
    """Return an error of the same type that names the file that cannot be written.

    Examples
    --------
    >>> from spmld._io import write_error
    >>> write_error("songs.csv", OSError(28, "No space left on device"))
    OSError('cannot write songs.csv: No space left on device; choose another folder or free some space')
    """
    reason = os.strerror(error.errno) if error.errno else str(error)
    named = type(error)(f"cannot write {path}: {reason}; choose another folder or free some space")
    named.errno = error.errno
    return named


def _remove_old_parts(file: Path) -> None:
    """Delete temporary files for `file` that nobody has written to for an hour."""
    parts = file.parent.glob(f".*-part-{glob.escape(file.name)}")
    for part in [part for part in parts if re.fullmatch(r"\.\d+-part-", part.name.removesuffix(file.name))]:
        with suppress(OSError):  # another process may delete it first
            if time.time() - part.stat().st_mtime > 3600:
                part.unlink()
