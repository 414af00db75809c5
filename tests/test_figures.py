"""Figures of the user guide: each is drawn, stored and shown on a page."""

import importlib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NAMES = sorted(path.stem for path in (DOCS / "_static" / "figures").glob("*.png"))


@pytest.fixture(scope="module")
def figures():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield importlib.import_module("figures")


def test_every_figure_is_stored_and_shown(figures):
    assert sorted(draw.__name__ for draw in figures.FIGURES) == NAMES
    pages = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for name in NAMES:
        assert f"](_static/figures/{name}.png)" in pages


@pytest.mark.parametrize("name", NAMES)
def test_figure_is_drawn(figures, name, tmp_path):
    try:
        figure = getattr(figures, name)()
    except FileNotFoundError as error:
        pytest.skip(f"real data: {error}")
    figure.savefig(tmp_path / "figure.png")
    assert any(axis.lines or axis.patches or axis.images for axis in figure.axes)
    figures.plt.close("all")
