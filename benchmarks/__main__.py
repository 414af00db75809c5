"""Run all fast benchmarks, or the named ones: ``python -m benchmarks [--store | --smoke] [name ...]``.

``--store`` stores the ratios of the run. ``--smoke`` runs all benchmarks, or the named ones, with tiny sizes, to find
those that no longer run; their numbers mean nothing.
"""

import importlib
import os
import pkgutil
import sys

import benchmarks
from benchmarks import sizes

SLOW = (
    "accelerator",
    "all_rows",
    "annotators",
    "audit",
    "comparison_level",
    "competitors",
    "defaults",
    "designs",
    "distributed",
    "error_counts",
    "flagship",
    "forest",
    "growth",
    "hierarchy",
    "invariances",
    "label_errors",
    "many_labels",
    "memory",
    "million",
    "monitoring",
    "precision",
    "prediction",
    "refit",
    "review",
    "review_page",
    "startup",
    "text",
    "threads",
    "trees",
    "updates",
    "views",
    "wrong_labels",
)
TOOLS = ("__main__", "peers", "ratios", "sizes")


def main(*arguments):
    """Run the benchmarks that are named, or all."""
    options = {argument for argument in arguments if argument in ("--smoke", "--store")}
    smoke = "--smoke" in options
    if smoke:
        os.environ[sizes.VARIABLE] = "1"
    from benchmarks import ratios  # sizes depend on the variable

    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in TOOLS]
    requested = [argument for argument in arguments if argument not in options]
    for name in requested or [name for name in names if smoke or name not in SLOW]:
        if name not in names:
            sys.exit(f"benchmark must be one of {', '.join(names)}, got {name!r}")
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
    if ratios.recorded and not smoke:
        ratios.compare()
        if "--store" in options:
            ratios.store()


if __name__ == "__main__":  # workers of Dask import this module
    main(*sys.argv[1:])
