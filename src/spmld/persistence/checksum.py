"""Zip archives with a checksum, to detect truncated and modified files.

The comment of a zip archive is at the end of the file. Here it is the SHA-256 of all bytes before it.
"""

import hashlib
import io
import zipfile
from pathlib import Path

from spmld._io import StrPath, shorten

KIND = "a model file of spmld"
MEMBER = "spmld.json"
_PREFIX = b"spmld sha256 "
_LENGTH = len(_PREFIX) + 64


class ModelFileError(ValueError):
    """Error for a file that is not a model file, is damaged, or contains untrusted types.

    Examples
    --------
    >>> import tempfile, spmld
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open(folder + "/model.skops", "w").close()
    ...     spmld.load(folder + "/model.skops")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spmld.persistence.checksum.ModelFileError: ...model.skops is empty, expected a model file of spmld
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


def add_checksum(content: bytes, description: str) -> bytes:
    """Return an archive with the description added, and the checksum at its end."""
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, description)
        archive.comment = _PREFIX + b"0" * 64  # the length of the comment precedes it and is part of the checksum
    body = buffer.getvalue()[:-_LENGTH]
    return body + _PREFIX + hashlib.sha256(body).hexdigest().encode()


def read_verified(path: StrPath) -> bytes:
    """Return the content of a file with a correct checksum. It is read once, so that the verified content is loaded."""
    file = Path(path)
    if file.is_dir():
        raise ModelFileError(f"{file} is a folder, expected {KIND}")
    if not file.is_file():
        raise FileNotFoundError(f"file {file} does not exist")
    content = file.read_bytes()
    if not content:
        raise ModelFileError(f"{file} is empty, expected {KIND}")
    if content[:1] == b"\x80":
        raise ModelFileError(f"{file} is a pickle, which can execute arbitrary code, expected {KIND}: use spmld.save")
    if content[:4] != b"PK\x03\x04":
        raise ModelFileError(f"{file} is not {KIND}: it starts with {content[:8]!r}, expected a zip archive")
    body, end = content[:-_LENGTH], content[-_LENGTH:]
    if not end.startswith(_PREFIX):
        raise ModelFileError(f"{file} {_without_checksum(content)}")
    digest, recorded = hashlib.sha256(body).hexdigest(), end.removeprefix(_PREFIX).decode(errors="replace")
    if recorded != digest:
        raise ModelFileError(
            f"{file} is damaged: its SHA-256 is {digest[:12]}..., expected {recorded[:12]}.... Use another copy"
        )
    return content


def _without_checksum(content: bytes) -> str:
    """Return the error message for an archive that does not end with a checksum."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except Exception:  # zipfile raises many kinds of errors for damaged archives
        return f"is truncated or damaged: the end of the archive is missing, expected {KIND}. Use another copy"
    if MEMBER in names:
        return "is damaged: it does not end with its checksum. Use another copy"
    if "schema.json" in names:
        return f"was written by skops, expected {KIND}: load it with skops.io.load"
    return f"is a zip archive with other content ({', '.join(names[:3]) or 'empty'}), expected {KIND}"
