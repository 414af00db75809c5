"""Sphinx configuration. ``make docs`` builds the site in docs/_build/html."""

import re
import shutil
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import names  # noqa: E402

import spmld  # noqa: E402

(FOLDER / "api.rst").write_text(names.page(), encoding="utf-8")
# The pages of the study are next to its code; Sphinx reads files of this folder only.
shutil.copytree(FOLDER.parent / "studies" / "docs", FOLDER / "studies", dirs_exist_ok=True)

project, author, copyright = "spmld", "The spmld developers", "The spmld developers"
version = release = spmld.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "**/sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "py:obj"
highlight_language = "none"
# ref.python: a name may exist in two modules; toc: tables of results are reached by links only.
suppress_warnings = ["ref.python", "toc.not_included"]

autosummary_generate = True
autodoc_typehints = "none"  # docstrings describe the types
numpydoc_show_class_members = False  # see _templates/autosummary/class.rst
numpydoc_class_members_toctree = False
myst_heading_anchors = 4

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "ExampleTitleSortKey",
    "doc_module": ("spmld",),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "spmld"
html_math_renderer = "mathml"  # see mathml.py
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_nav_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
# Pages without pages below them need no navigation.
html_sidebars = {page: [] for page in ("index", "start", "glossary", "changelog")}

# Files outside this folder, and the pages that show them. On a code host, links lead to the files themselves.
PAGES = {
    "../README.md": "index.rst",
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../SECURITY.md": "security.md",
}


def link_to_pages(app, docname, source):
    """Replace links to files of the repository by links to the pages that show them."""
    if docname in ("changelog", "contributing", "security"):
        source[0] = (FOLDER.parent / f"{docname.upper()}.md").read_text(encoding="utf-8").replace("](docs/", "](")
    source[0] = re.sub(r"\]\((\.\./)?studies/docs/", "](studies/", source[0]).replace("](../../docs/", "](../")
    if docname.startswith("studies/"):
        source[0] = source[0].replace("](../../SECURITY.md)", "](../security.md)")
    source[0] = re.sub(r"\]\((\.\./[A-Z]+\.md)\)", lambda match: f"]({PAGES[match[1]]})", source[0])
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", source[0])


def inherited_references(app, what, name, obj, options, lines):
    """Replace references to scikit-learn's documentation in inherited docstrings by their text."""
    lines[:] = [re.sub(r":(?:term|ref):`~?([^`<]*?)(?: *<[^>]*>)?`", r"``\1``", line) for line in lines]


def setup(app):
    """Register the handlers of links and docstrings."""
    app.connect("source-read", link_to_pages)
    app.connect("autodoc-process-docstring", inherited_references)
