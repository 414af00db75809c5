"""Reading of studies from TOML files."""

import tomllib
from pathlib import Path
from typing import Any

from studies.config import Corruption, Method, Study
from studies.schema import StudyError, check_table


def load_study(path: str | Path) -> Study:
    """Read a study from a TOML file.

    Examples
    --------
    >>> from studies.loading import find_study, load_study
    >>> study = load_study(find_study("smoke"))
    >>> study.data, study.observed, [method.name for method in study.methods]
    (('planted',), (0.3, 0.7), ['GLOCAL', 'SPMLD'])
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError(f"study file {path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise StudyError(f"{path} cannot be read as TOML: {error}") from error
    return parse_study(content, name=path.stem, source=path.name)


def shipped_studies() -> dict[str, Path]:
    """Return the files of the studies that come with the package, by name."""
    folder = Path(__file__).with_name("definitions")
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_study(name: str) -> Path:
    """Return the file of a study: the name of a study that comes with the package, or a path that ends in .toml.

    Examples
    --------
    >>> from studies.loading import find_study
    >>> find_study("smoke").name
    'smoke.toml'
    """
    shipped = shipped_studies()
    if name in shipped:
        return shipped[name]
    if name.endswith(".toml"):
        return Path(name)
    raise StudyError(f"study must be one of {', '.join(shipped)}, or a path that ends in .toml, got {name!r}")


def parse_study(content: dict[str, Any], *, name: str, source: str) -> Study:
    """Return the study that the content of a file defines.

    Parameters
    ----------
    content : dict
        Content of the file.
    name : str
        Name of the study.
    source : str
        Name of the file, for error messages.

    Examples
    --------
    >>> from studies.loading import parse_study
    >>> parse_study({"titel": "A typo"}, name="typo", source="typo.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    studies.schema.StudyError: typo.toml: unknown key titel; accepted keys are title, report, data, ...
    """
    values = check_table(Study, content, source)
    for part, cls in (("methods", Method), ("corruption", Corruption)):
        if part in values:
            values[part] = tuple(
                _build(cls, check_table(cls, table, f"{source}: {part} {number}"), f"{source}: {part} {number}")
                for number, table in enumerate(values[part], 1)
            )
    return _build(Study, {**values, "name": name}, source)


def _build(cls: type, values: dict[str, Any], source: str) -> Any:
    """Call the constructor of a dataclass, and add the name of the file to its errors."""
    try:
        return cls(**values)
    except StudyError as error:
        raise StudyError(f"{source}: {error}") from None
