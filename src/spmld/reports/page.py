"""HTML page: one file that contains its style, script and figures."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from typing import Any

import spmld
from spmld._io import need
from spmld._table import without_nul
from spmld.reports.parts import Section


def page(title: str, subtitle: str, sections: Sequence[Section | None]) -> str:
    """Return the HTML of a page. Sections that are None are left out, and all text is escaped.

    Parameters
    ----------
    title, subtitle : str
        Heading.
    sections : sequence of Section or None
        Sections.

    Examples
    --------
    >>> from spmld.reports.page import page
    >>> from spmld.reports.parts import Section
    >>> "&lt;b&gt;" in page("<b>", "", [Section("one", "One", "Text.")])
    True
    """
    template, style, script = _templates()
    # The browser runs this script only, and does not load anything.
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    rendered = template.render(
        title=title,
        subtitle=subtitle,
        sections=[section for section in sections if section is not None],
        style=style,
        script=script,
        policy=policy,
        version=spmld.__version__,
    )
    return without_nul(rendered)


@cache
def _templates() -> tuple[Any, str, str]:
    jinja = need("jinja2", "report")
    loader = jinja.PackageLoader("spmld.reports")
    # Label names are arbitrary text, so everything is escaped unless the template marks it as safe.
    environment = jinja.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    colors, style, script = (
        loader.get_source(environment, name)[0] for name in ("colors.css", "style.css", "script.js")
    )
    return environment.get_template("page.html"), colors + style, script
