"""``spmld demo``: fit on generated data, print a table and draw a figure."""

import click

from spmld.cli.printing import check_output_path


@click.command()
@click.option("--figure", default="demo.png", show_default=True, metavar="FILE", help="Figure to write.")
def demo(figure: str) -> None:
    """Fit GLOCAL and SPMLD on generated data with missing labels, print a table and draw a figure.

    \b
    Example:
      spmld demo --figure demo.png
    """
    from spmld.demo import main

    check_output_path(figure, force=True)
    main(figure)
