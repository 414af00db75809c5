"""``spmld demo``: predict, find wrong labels and fill in missing ones on generated song reviews."""

from pathlib import Path

import click

from spmld.cli import options
from spmld.cli.printing import check_output_path


@click.command()
@click.option("-o", "--out", default="demo", show_default=True, metavar="FOLDER", help="Folder to write.")
@options.force_option
def demo(out: str, force: bool) -> None:
    """Fit a model to song reviews with missing and wrong tags, and compare it with scikit-learn.

    The generated reviews, a figure and a report are written to a folder. The last lines are commands that continue with
    these files.

    \b
    Example:
      spmld demo -o demo
    """
    from spmld.demo import FILES, main

    if Path(out).is_dir():
        for name in FILES:
            check_output_path(str(Path(out) / name), force)
    else:
        check_output_path(out, force=False)
    main(out)
