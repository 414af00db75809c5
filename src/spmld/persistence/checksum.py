"""Archives that end with their checksum, so that one which is cut short or changed is seen.

The comment of a zip archive is the end of the file. Ours is the SHA-256 of all bytes before it.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from pathlib import Path

__all__ = ["KIND", "MEMBER", "ModelFileError", "read_sealed", "seal"]

KIND = "a model file of spmld"
MEMBER = "spmld.json"
_SEAL = b"spmld sha256 "
_SEAL_LENGTH = len(_SEAL) + 64


class ModelFileError(ValueError):
    """A file that is no model file, is damaged, or holds what is not trusted.

    Examples
    --------
    >>> import tempfile, spmld
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open(folder + "/model.skops", "w").close()
    ...     spmld.load(folder + "/model.skops")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spmld.persistence.checksum.ModelFileError: ...model.skops is empty, expected a model file of spmld
    """


def seal(content: bytes, description: str) -> bytes:
    """The archive with the description, and at its end the checksum."""
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, description)
        archive.comment = _SEAL + b"0" * 64  # its length stands before it, and so is sealed too
    body = buffer.getvalue()[:-_SEAL_LENGTH]
    return body + _SEAL + hashlib.sha256(body).hexdigest().encode()


def read_sealed(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file whose seal is whole; read once, so that what was checked is what is loaded."""
    file = Path(path)
    if file.is_dir():
        raise ModelFileError(f"{file} is a folder, expected {KIND}")
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    content = file.read_bytes()
    if not content:
        raise ModelFileError(f"{file} is empty, expected {KIND}")
    if content[:1] == b"\x80":
        raise ModelFileError(f"{file} is a pickle, which can run any code, expected {KIND}: see spmld.save")
    if content[:4] != b"PK\x03\x04":
        raise ModelFileError(f"{file} is not {KIND}: it begins with {content[:8]!r}, expected a zip archive")
    body, end = content[:-_SEAL_LENGTH], content[-_SEAL_LENGTH:]
    if not end.startswith(_SEAL):
        raise ModelFileError(f"{file} {_without_seal(content)}")
    if end != _SEAL + hashlib.sha256(body).hexdigest().encode():
        raise ModelFileError(
            f"{file} is damaged: its SHA-256 is {hashlib.sha256(body).hexdigest()[:12]}..., but "
            f"{end.removeprefix(_SEAL)[:12].decode(errors='replace')}... is recorded. Take another copy"
        )
    return content


def _without_seal(content: bytes) -> str:
    """What to say of an archive that does not end with a checksum."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return f"is cut short or damaged: the end of the archive is missing, expected {KIND}. Take another copy"
    if MEMBER in names:
        return "is damaged: it does not end with its checksum. Take another copy"
    if "schema.json" in names:
        return f"is written by skops and not by spmld.save, expected {KIND}: skops.io.load reads it"
    return f"is a zip archive of something else ({', '.join(names[:3]) or 'nothing'}), expected {KIND}"
