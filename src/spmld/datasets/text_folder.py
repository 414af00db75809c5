"""Reading a folder of text files as a table.

Each ``.txt`` file is a sample. Labels are in one of two places: in a table in the folder, one of whose columns contains
the file names, or in the names of the subfolders, which are the tags of their files. A file that is in several
subfolders has several tags.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spmld._io import StrPath, need

_TABLES = (".csv", ".tsv", ".xlsx", ".jsonl", ".parquet")


def read_text_folder(path: StrPath, encoding: str, read_table: Callable[..., Any]) -> Any:
    """Return a DataFrame with the columns "file" and "text", and those of the table or "tags"."""
    folder, pandas = Path(path), need("pandas")
    files = sorted(file for file in folder.rglob("*.txt") if file.is_file())
    if not files:
        raise ValueError(f"{folder} contains no .txt files, expected a folder of text files")
    tables = sorted(file for file in folder.iterdir() if file.suffix.lower() in _TABLES)
    if len(tables) > 1:
        raise ValueError(f"{folder} must contain at most one table, got {', '.join(file.name for file in tables)}")
    texts = pandas.DataFrame(
        {
            "file": [file.relative_to(folder).as_posix() for file in files],
            "text": [_read_text(file, encoding) for file in files],
        }
    )
    if tables:
        return _join(texts, read_table(tables[0], encoding=encoding), tables[0])
    return _add_tags(texts)


def _read_text(file: Path, encoding: str) -> str:
    try:
        return file.read_text(encoding="utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{file} is not {error.encoding} text: pass its encoding, such as cp1252 (--encoding cp1252)"
        ) from None


def _join(texts: Any, table: Any, file: Path) -> Any:
    """Return the table with the texts of its files, matched by file name with or without folder and extension."""
    forms = [Path(name) for name in texts["file"]]
    keys = {}
    for i, name in enumerate(forms):
        for key in (name.stem, name.name, name.with_suffix("").as_posix(), name.as_posix()):
            keys[key] = i
    matches = {column: table[column].astype(str).str.strip().map(keys) for column in table.columns}
    column = max(matches, key=lambda name: matches[name].notna().sum(), default=None)
    if column is None or not matches[column].notna().any():
        raise ValueError(f"{file} must have a column with the names of the text files, such as {texts['file'][0]}")
    rows = matches[column].dropna().astype(int)
    joined = table.loc[rows.index].reset_index(drop=True)
    joined = joined.rename(columns={column: "file"}).drop(columns="text", errors="ignore")
    joined.insert(1, "text", texts["text"].to_numpy()[rows.to_numpy()])
    return joined


def _add_tags(texts: Any) -> Any:
    """Return one row for each text, with the subfolders of its files as tags; without subfolders there are no tags."""
    paths = [Path(name) for name in texts["file"]]
    if all(len(path.parts) == 1 for path in paths):
        return texts
    rows: dict[tuple[str, str], list[str]] = {}
    for path, text in zip(paths, texts["text"], strict=True):
        rows.setdefault((path.name, text), []).extend(path.parts[:-1])
    content = [(name, text, sorted(set(tags))) for (name, text), tags in rows.items()]
    frame = need("pandas").DataFrame(content, columns=["file", "text", "tags"])
    if not frame["file"].is_unique:  # different files of the same name in different folders
        frame["file"] = ["/".join([*tags, name]) for name, _, tags in content]
    return frame
