"""Every block of Python in the docs and the README runs, those of a file one after the other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}


def code(text):
    """The blocks alone, on the lines where they stand, so that an error names the line of the file."""
    inside, lines = False, []
    for line in text.splitlines():
        fence = line.startswith("```")
        lines.append(line if inside and not fence else "")
        if fence:
            inside = line == "```python"
    return "\n".join(lines)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code(TEXTS[path]), path, "exec"), {"__name__": "docs"})


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_linked_files_are_there(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXTS[path]):
        assert target.startswith("http") or (path.parent / target).exists(), target


def test_only_python_is_run():
    text = "a\n```python\nx = 1\n```\n```\nnot python\n```\n```python\ny = x\n```"
    assert code(text).split() == ["x", "=", "1", "y", "=", "x"]
    assert code(text).splitlines()[2] == "x = 1"
