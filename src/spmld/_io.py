"""What all readers and writers share: errors that name the file, extras, and files that are whole or absent."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["need", "number", "reading", "writing"]

_WORDS = {"false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}


def need(module: str, extra: str = "data") -> Any:
    """A module that comes with an extra, or an error that names it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{module} is not installed; it comes with: pip install "spmld[{extra}]"') from error


def number(value: Any) -> float:
    """A number for a number, a truth value or a word for one, NaN for None or an empty text; ValueError for others."""
    if value is None:
        return float("nan")
    if not isinstance(value, str):
        return float(value)
    word = value.strip().lower()
    if not word:
        return float("nan")
    return _WORDS[word] if word in _WORDS else float(word)


@contextmanager
def reading(path: str | os.PathLike[str], kind: str) -> Iterator[Path]:
    """The file, if it is there and not empty. What goes wrong inside becomes a ValueError that names it."""
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{file} is a folder, expected {kind}")
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty, expected {kind}")
    try:
        yield file
    except (ImportError, MemoryError, PermissionError):
        raise
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} at position {error.start}"
        hint = "save it as UTF-8, or give the encoding it has, such as latin-1"
        raise ValueError(f"{file} is not {error.encoding} text ({byte}): {hint}") from error
    except Exception as error:  # the libraries below raise many kinds, from KeyError to zlib.error
        raise ValueError(f"{file} cannot be read as {kind}: {error}") from error


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file in the same folder, which takes the name `path` once it is complete."""
    file = Path(path)
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {file.parent} to write {file.name} into")
    # The ending stays the last part of the name: some libraries go by it or append their own.
    part = file.with_name(f".{os.getpid()}-part-{file.name}")
    try:
        yield part
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)
