"""``spmld demo``: the main job on generated data."""

from __future__ import annotations

import click

from spmld.cli.output import check_target

__all__ = ["demo"]


@click.command()
@click.option("--figure", default="demo.png", show_default=True, metavar="FILE", help="Where to draw the figure.")
def demo(figure: str) -> None:
    """Learn from generated data with missing labels, print a table and draw a figure.

    \b
    Example:
      spmld demo --figure demo.png
    """
    from spmld.demo import main

    check_target(figure, force=True)
    main(figure)
