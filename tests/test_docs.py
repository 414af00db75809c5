"""Tests of the documentation: Python blocks run, links are valid, and the API reference lists every public name."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import textwrap
from pathlib import Path

import pytest

import spmld
import spmld.app

ROOT = Path(__file__).parents[1]
DOCS = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "studies" / "docs").glob("*.md"))]
# The tutorials start from files; see tests/journeys/test_tutorials.py.
WITHOUT_FILES = [path for path in DOCS if not path.name.startswith("tutorial_")]
TEXTS = {path: path.read_text(encoding="utf-8") for path in WITHOUT_FILES}
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKED = [
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("studies/**/*.md")),
]


def code(text):
    """Return the Python blocks of a page at their original line numbers, so that errors point to the file."""
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


def test_example_of_the_readme_prints_what_the_first_page_shows(capsys):
    index = (ROOT / "docs" / "index.rst").read_text(encoding="utf-8")
    example, output = (
        textwrap.dedent(block)
        for block in re.findall(r"^\.\. code-block:: \w+\n\n((?:   .*\n|\n)+)", index, re.MULTILINE)
    )
    statements = [[line.partition("  #")[0] for line in text.splitlines()] for text in (example, code(README))]
    assert set(statements[0]) <= set(statements[1])
    exec(compile(code(README), "README.md", "exec"), {"__name__": "docs"})
    assert capsys.readouterr().out.split()[: len(output.split())] == output.split()


def test_only_python_blocks_are_run():
    text = "a\n```python\nx = 1\n```\n```\nnot python\n```\n```python\ny = x\n```"
    assert code(text).split() == ["x", "=", "1", "y", "=", "x"]
    assert code(text).splitlines()[2] == "x = 1"


@pytest.mark.parametrize("path", ["README.md", "docs/start.md"])
def test_the_package_is_installed_from_a_clone_or_a_repository(path):
    lines = re.findall(r"^pip install (.+?)(?: +#.*)?$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    assert set(lines) - {"."} == {'".[all]"', '"spmld[all] @ git+URL"'}  # it is not on a package index


def test_the_first_screen_says_what_the_library_is_not_for():
    first = README.partition("## ")[0]
    assert "**What it is not for.**" in first
    assert len(first.splitlines()) < 25


def prose(text):
    """Return a page without code, in which brackets are not links."""
    return re.sub(r"`[^`\n]*`", "`code`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(text):
    """Return the anchors of all headings: lower case, words joined by hyphens, without punctuation."""
    headings = re.findall(
        r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(path, text):
    """Yield the relative links of a page whose file or heading does not exist."""
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", prose(text)):
        file = path.parent / target if target else path
        if target.startswith(("http://", "https://")):
            continue
        if target and not file.exists():
            yield target
        elif anchor and anchor not in anchors(text if file == path else file.read_text(encoding="utf-8")):
            yield f"{target}#{anchor}"


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_are_valid(path):
    assert list(dead_links(path, path.read_text(encoding="utf-8"))) == []


def test_dead_links_are_found():
    text = "# A `b` c\n[x](gone.md) [y](#a-b-c) [z](#d) [w](README.md#nowhere) `[v](code.md)`\n```\n[u](code.md)\n```"
    assert list(dead_links(ROOT / "page.md", text)) == ["gone.md", "#d", "README.md#nowhere"]


def names_of_api_reference():
    """Return the names of the API reference by module."""
    spec = importlib.util.spec_from_file_location("names", ROOT / "docs" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: words.split() for name, (_, words) in module.PUBLIC.items()}


PUBLIC = names_of_api_reference()
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]
# Programs and the internal mathematics are not part of the public interface.
NOT_PUBLIC = {"spmld.app", "spmld.app.commands", "spmld.cluster", "spmld.core"}


def test_api_reference_lists_every_public_module():
    packages = [(spmld, "spmld"), (spmld.app, "spmld.app")]
    modules = {
        f"{name}.{module.name}"
        for package, name in packages
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("_")
    }
    assert set(PUBLIC) == {"spmld"} | modules - NOT_PUBLIC


@pytest.mark.parametrize("module", PUBLIC)
def test_api_reference_lists_every_public_name_once(module):
    exported = {name for name in importlib.import_module(module).__all__ if not name.startswith("__")}
    # Names that are also exported by the top-level package are listed there.
    top = set() if module == "spmld" else {name for name in exported if name in PUBLIC["spmld"]}
    assert sorted(PUBLIC[module]) == sorted(exported - top)
    for name in top:
        assert getattr(importlib.import_module(module), name) is getattr(spmld, name)


@pytest.mark.parametrize(("module", "name"), NAMES, ids=".".join)
def test_every_public_name_has_an_example_in_its_docstring(module, name):
    value = getattr(importlib.import_module(module), name)
    if not callable(value):
        pytest.skip("a constant")
    text = inspect.getdoc(value)
    assert "\nExamples\n--------\n" in text
    example = text.split("\nExamples\n--------\n")[1]
    other = re.match(r"See `(\w+)`\.", example)
    assert ">>> " in (inspect.getdoc(getattr(importlib.import_module(module), other[1])) if other else example)


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = sorted(set(re.findall(r"`((?:\w+/)*\w+\.py)(?::([\w.]+))?`", CONTRIBUTING)))


@pytest.mark.parametrize(("file", "name"), STEPS, ids=lambda value: value or "module")
def test_files_and_functions_in_contributing_exist(file, name):
    (path,) = (folder / file for folder in (ROOT / "src" / "spmld", ROOT) if (folder / file).exists())
    if name:
        assert re.search(rf"^ *(?:def|class) {name.split('.')[-1]}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
