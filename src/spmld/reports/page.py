"""From sections to HTML: one file, with its style, its script and its figures inside."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from typing import Any

import spmld
from spmld._io import need
from spmld.reports.parts import Section

__all__ = ["page"]


def page(title: str, subtitle: str, sections: Sequence[Section | None]) -> str:
    """The page; sections that are None are left out.

    Parameters
    ----------
    title, subtitle : str
        What the page is about. All text is escaped.
    sections : sequence of Section or None
        Its parts.

    Returns
    -------
    str

    Examples
    --------
    >>> from spmld.reports.page import page
    >>> from spmld.reports.parts import Section
    >>> "&lt;b&gt;" in page("<b>", "", [Section("one", "One", "Text.")])
    True
    """
    template, style, script = _templates()
    # The browser runs this script and no other, and asks for nothing from elsewhere.
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return template.render(
        title=title,
        subtitle=subtitle,
        sections=[section for section in sections if section is not None],
        style=style,
        script=script,
        policy=policy,
        version=spmld.__version__,
    )


@cache
def _templates() -> tuple[Any, str, str]:
    jinja = need("jinja2", "report")
    loader = jinja.PackageLoader("spmld.reports")
    # Names of labels come from anywhere, so everything is escaped but what the template marks as safe.
    environment = jinja.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    style, script = (loader.get_source(environment, name)[0] for name in ("style.css", "script.js"))
    return environment.get_template("page.html"), style, script
