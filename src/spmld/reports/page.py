"""HTML page: one file that contains its style, script and figures, and the parts of its sections."""

import hashlib
import io
import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

import spmld
from spmld._io import need
from spmld._table import TextTable, without_nul

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text remains text, in the font of the page
    "svg.hashsalt": "spmld",  # the same figure results in the same file
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: Sequence[tuple[str, ...]]
    kind: ClassVar[str] = "facts"


class Tiles(Facts):
    """Headline numbers: name, value and remark."""

    kind = "tiles"


@dataclass(frozen=True)
class Figure:
    """SVG image with alternative text, caption and width in pixels."""

    svg: str
    alt: str
    caption: str = ""
    width: int = 640
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Section:
    """Section of a page. Tables can be sorted, and searched if they are long."""

    key: str
    title: str
    text: str = ""
    parts: Sequence[Facts | Figure | TextTable] = field(default_factory=tuple)


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
    >>> from spmld.reports.page import Section, page
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


def picture(
    draw: Callable[[Any], Any], alt: str, caption: str = "", *, size: tuple[float, float] = (6.4, 4.0)
) -> Figure:
    """Return the figure that a function draws.

    Parameters
    ----------
    draw : callable
        Called with matplotlib axes, such as ``lambda ax: display.plot(ax=ax)``.
    alt : str
        Alternative text that describes the figure.
    caption : str
        Text below the figure.
    size : tuple of two floats
        Width and height in inches.

    Examples
    --------
    >>> from spmld.reports.page import picture
    >>> picture(lambda ax: ax.plot([0, 1]), "a line").svg[:4]
    '<svg'
    """
    need("matplotlib", "report")
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    with rc_context(_STYLE), warnings.catch_warnings():
        # The browser chooses the font, so that glyphs missing from matplotlib's font do not matter.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        figure = Canvas(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return Figure(_inline(file.getvalue()), alt, caption, round(100 * size[0]))


def _inline(svg: str) -> str:
    """Return SVG for a page: without the header of a file, and with ids that are unique in the page."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    mark = "f" + hashlib.sha256(svg.encode()).hexdigest()[:8]

    def adapt(tag: str) -> str:
        tag = re.sub(r"#([0-9a-f]{2})\1\1\b", lambda match: _text_color(int(match[1], 16)), tag)
        tag = re.sub(r'\bid="', f'id="{mark}-', tag)
        return re.sub(r'(href="|url\()#', rf"\1#{mark}-", tag)

    # Only inside tags, because text between them may look like a color.
    svg = re.sub(r"<[^>]+>", lambda match: adapt(match[0]), svg)
    return re.sub(r"\n\s*", "\n", svg)


def _text_color(gray: int) -> str:
    """Return a shade of gray relative to the text: black is the color of the text, white is transparent."""
    strength = round(100 * (1 - gray / 255))
    return "currentColor" if strength == 100 else f"color-mix(in srgb, currentColor {strength}%, transparent)"
