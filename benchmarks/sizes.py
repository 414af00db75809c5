"""Sizes of the benchmarks: those of their descriptions, or with ``python -m benchmarks --smoke`` tiny ones."""

import os

VARIABLE = "SPMLD_BENCHMARKS_SMOKE"
"""Environment variable of a smoke run, which processes that a benchmark starts inherit."""


def sized(full, smoke):
    """Return the size of a run: `full`, or `smoke`, with which a benchmark takes about a second."""
    return smoke if VARIABLE in os.environ else full
