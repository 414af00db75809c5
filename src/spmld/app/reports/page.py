"""HTML page: one file that contains its style, script and figures, and the parts of its sections."""

import hashlib
import io
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import spmld
from spmld._io import need
from spmld._table import TextTable, without_nul

# The hash salt makes the file of a figure deterministic.
_STYLE: dict[Any, Any] = {"svg.hashsalt": "spmld", "axes.spines.top": False, "axes.spines.right": False}


@dataclass(frozen=True)
class Figure:
    """Image as a data URL, with alternative text, caption and width in pixels."""

    source: str
    alt: str
    caption: str = ""
    width: int = 640


@dataclass(frozen=True)
class Section:
    """Section of a page. Tables can be sorted, and searched if they are long.

    Attributes
    ----------
    key, title, text : str
        Name of the section in links, heading, and text below it.
    tables : sequence of TextTable
        Tables.
    tiles : sequence of (str, str, str)
        Headline numbers: name, value and remark.
    facts : sequence of (str, str)
        Names and values.
    figure : Figure, optional
        Figure.
    """

    key: str
    title: str
    text: str = ""
    tables: Sequence[TextTable] = ()
    tiles: Sequence[tuple[str, str, str]] = ()
    facts: Sequence[tuple[str, str]] = ()
    figure: Figure | None = None


def page(title: str, subtitle: str, sections: Sequence[Section | None]) -> str:
    """Return the HTML of a page. Sections that are None are left out, and all text is escaped.

    Examples
    --------
    >>> from spmld.app.reports.page import Section, page
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
    loader = jinja.PackageLoader("spmld.app.reports")
    # Label names are arbitrary text, so everything is escaped unless the template marks it as safe.
    environment = jinja.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    colors, style, script = (
        loader.get_source(environment, name)[0] for name in ("colors.css", "style.css", "script.js")
    )
    return environment.get_template("page.html"), colors + style, script


def picture(
    draw: Callable[[Any], Any], alt: str, caption: str = "", *, size: tuple[float, float] = (6.4, 4.0)
) -> Figure:
    """Return the figure that a function draws on the axes that it is called with; `size` is in inches.

    Examples
    --------
    >>> from spmld.app.reports.page import picture
    >>> picture(lambda ax: ax.plot([0, 1]), "a line").source[:19]
    'data:image/svg+xml;'
    """
    need("matplotlib", "report")
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    with rc_context(_STYLE):
        figure = Canvas(figsize=size, layout="constrained")
        file = io.BytesIO()
        draw(figure.add_subplot())
        figure.savefig(file, format="svg", metadata={"Date": None})
    source = f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}"
    return Figure(source, alt, caption, round(100 * size[0]))
