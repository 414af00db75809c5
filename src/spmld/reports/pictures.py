"""From a drawing to SVG that stands in a page: its ink follows the colour of the text, light or dark."""

from __future__ import annotations

import io
import re
import warnings
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from spmld._io import need
from spmld.reports.parts import Figure

__all__ = ["picture", "plot"]

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, and in the font of the page
    "svg.hashsalt": "spmld",  # the same drawing gives the same file
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def picture(
    draw: Callable[[Any], Any],
    alt: str,
    caption: str = "",
    *,
    size: tuple[float, float] = (6.4, 4.0),
    projection: str | None = None,
) -> Figure:
    """What `draw` draws on axes.

    Parameters
    ----------
    draw : callable
        Takes matplotlib axes, such as ``lambda ax: display.plot(ax=ax)``.
    alt : str
        What the figure shows, for those who do not see it.
    caption : str
        Text below it.
    size : tuple of two floats
        Width and height in inches.
    projection : str, optional
        Kind of the axes, such as "polar".

    Examples
    --------
    >>> from spmld.reports.pictures import picture
    >>> picture(lambda ax: ax.plot([0, 1]), "a line").svg[:4]
    '<svg'
    """
    need("matplotlib", "report")
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    with rc_context(_STYLE), warnings.catch_warnings():
        # Text is shown in the reader's font, so that what matplotlib's own lacks does not matter.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        figure = Canvas(figsize=size, layout="constrained")
        draw(figure.add_subplot(projection=projection))
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return Figure(_inline(file.getvalue()), alt, caption, round(100 * size[0]))


def plot(display: Any) -> Callable[[Any], Any]:
    """How a display of `spmld.plotting` is drawn on axes."""
    return lambda ax: display.plot(ax=ax)


def _inline(svg: str) -> str:
    """SVG without what only a file of its own needs, and with names that no other figure has."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r'<image [^>]*base64,([^"]+)"[^>]*>', lambda found: _lighter(found[0], found[1]), svg)
    mark = "f" + sha256(svg.encode()).hexdigest()[:8]

    def own(tag: str) -> str:
        tag = re.sub(r"#([0-9a-f]{2})\1\1\b", lambda found: _ink(int(found[1], 16)), tag)
        tag = re.sub(r'\bid="', f'id="{mark}-', tag)
        return re.sub(r'(href="|url\()#', rf"\1#{mark}-", tag)

    # In tags alone: a name between them may look like a colour.
    svg = re.sub(r"<[^>]+>", lambda found: own(found[0]), svg)
    return re.sub(r"\n\s*", "\n", svg)


def _ink(grey: int) -> str:
    """A grey as ink of that strength: black is the colour of the text, white is nothing."""
    strength = round(100 * (1 - grey / 255))
    return "currentColor" if strength == 100 else f"color-mix(in srgb, currentColor {strength}%, transparent)"


def _lighter(tag: str, content: str) -> str:
    """An image with a palette: a heat map has 256 colours at most, and so a third of the size."""
    from PIL import Image  # matplotlib needs it too

    image: Any = Image.open(io.BytesIO(b64decode(content))).convert("RGBA")
    if image.getextrema()[3][0] == 255 and image.getcolors(256):
        image = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    file = io.BytesIO()
    image.save(file, format="PNG", optimize=True)
    if image.width > 100:  # what may be shown smaller than it is must be smoothed, or rows would be left out
        tag = re.sub(r' style="[^"]*"', "", tag)
    return tag.replace(content, b64encode(file.getvalue()).decode())
