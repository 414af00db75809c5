"""Run all fast benchmarks, or the named ones: ``python -m benchmarks [--store] [name ...]``."""

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks import ratios

SLOW = (
    "accelerator",
    "annotators",
    "audit",
    "comparison_level",
    "competitors",
    "defaults",
    "distributed",
    "error_counts",
    "flagship",
    "forest",
    "growth",
    "hierarchy",
    "label_errors",
    "many_labels",
    "memory",
    "million",
    "monitoring",
    "precision",
    "refit",
    "review",
    "review_page",
    "startup",
    "threads",
    "updates",
    "wrong_labels",
)

names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in ("__main__", "peers", "ratios")]
requested = [argument for argument in sys.argv[1:] if argument != "--store"]
for name in requested or [name for name in names if name not in SLOW]:
    if name not in names:
        sys.exit(f"benchmark must be one of {', '.join(names)}, got {name!r}")
    print(f"\n== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
if ratios.recorded:
    ratios.compare()
    if "--store" in sys.argv[1:]:
        ratios.store()
