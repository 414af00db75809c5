"""Every block of Python in the docs and the README runs, every link leads somewhere, and every public name is shown."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import spmld

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
TEXTS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *DOCS)}
LINKED = [
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")),
    *sorted(ROOT.glob("docs/**/*.md")),
]


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


def test_only_python_is_run():
    text = "a\n```python\nx = 1\n```\n```\nnot python\n```\n```python\ny = x\n```"
    assert code(text).split() == ["x", "=", "1", "y", "=", "x"]
    assert code(text).splitlines()[2] == "x = 1"


def prose(text):
    """A page without its blocks of code, in which brackets mean other things."""
    return re.sub(r"`[^`\n]*`", "`code`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(text):
    """What headings are called in links: lower case, words joined by hyphens, without other signs."""
    headings = re.findall(
        r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(path, text):
    """Relative links of a page that lead to no file or no heading."""
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", prose(text)):
        file = path.parent / target if target else path
        if target.startswith(("http://", "https://")):
            continue
        if target and not file.exists():
            yield target
        elif anchor and anchor not in anchors(text if file == path else file.read_text(encoding="utf-8")):
            yield f"{target}#{anchor}"


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    assert list(dead_links(path, path.read_text(encoding="utf-8"))) == []


def test_dead_links_are_found():
    text = "# A `b` c\n[x](gone.md) [y](#a-b-c) [z](#d) [w](README.md#nowhere) `[v](code.md)`\n```\n[u](code.md)\n```"
    assert list(dead_links(ROOT / "page.md", text)) == ["gone.md", "#d", "README.md#nowhere"]


def listed():
    """Names of the API page by module, from the one list of them."""
    spec = importlib.util.spec_from_file_location("names", ROOT / "docs" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: words.split() for name, (_, words) in module.PUBLIC.items()}


PUBLIC = listed()
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]
# Programs, not modules to import from; and `core`, which is mathematics for those who change the library.
NOT_SHOWN = {"spmld.cli", "spmld.core", "spmld.demo"}


def test_every_public_module_is_on_the_api_page():
    found = {
        f"spmld.{module.name}" for module in pkgutil.iter_modules(spmld.__path__) if not module.name.startswith("_")
    }
    assert set(PUBLIC) == {"spmld"} | found - NOT_SHOWN


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_on_the_api_page_once(module):
    exported = {name for name in importlib.import_module(module).__all__ if not name.startswith("__")}
    # What the package gives at its top is shown there.
    top = set() if module == "spmld" else {name for name in exported if name in PUBLIC["spmld"]}
    assert sorted(PUBLIC[module]) == sorted(exported - top)
    for name in top:
        assert getattr(importlib.import_module(module), name) is getattr(spmld, name)


@pytest.mark.parametrize(("module", "name"), NAMES, ids=".".join)
def test_every_public_name_has_a_docstring_with_an_example(module, name):
    thing = getattr(importlib.import_module(module), name)
    if not callable(thing):
        pytest.skip("a constant")
    text = inspect.getdoc(thing)
    assert "\nExamples\n--------\n" in text
    example = text.split("\nExamples\n--------\n")[1]
    other = re.match(r"See `(\w+)`\.", example)
    assert ">>> " in (inspect.getdoc(getattr(importlib.import_module(module), other[1])) if other else example)
