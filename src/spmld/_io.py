"""Helpers for files: optional dependencies, error messages that name the file, and atomic writes."""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

StrPath: TypeAlias = str | os.PathLike[str]


def need(module: str, extra: str = "data") -> Any:
    """Import an optional dependency, or raise an ImportError that names the extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{module} is not installed; install it with: pip install "spmld[{extra}]"') from error


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
    except (ImportError, MemoryError, PermissionError):
        raise
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} at position {error.start}"
        hint = "save it as UTF-8, or pass its encoding, such as latin-1"
        raise ValueError(f"{file} is not {error.encoding} text ({byte}): {hint}") from error
    except Exception as error:  # libraries raise many types of errors, from KeyError to zlib.error
        raise ValueError(shorten(f"{file} cannot be read as {kind}: {error}")) from error


@contextmanager
def writing(path: StrPath) -> Iterator[Path]:
    """Yield a temporary file in the same folder. It is renamed to `path` if the block succeeds, and deleted if not."""
    file = Path(path)
    if not file.parent.is_dir():
        raise FileNotFoundError(f"cannot write {file.name}: folder {file.parent} does not exist")
    # The temporary name has the same extension, because some libraries choose the format by it or append their own.
    part = file.with_name(f".{os.getpid()}-part-{file.name}")
    try:
        yield part
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)
