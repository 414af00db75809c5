"""Run all fast benchmarks, or the named ones: ``python -m benchmarks [name ...]``."""

import importlib
import pkgutil
import sys

import benchmarks

SLOW = (
    "accelerator",
    "audit",
    "competitors",
    "defaults",
    "error_counts",
    "flagship",
    "label_errors",
    "many_labels",
    "refit",
    "review",
    "review_page",
    "wrong_labels",
)

names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in ("__main__", "peers")]
for name in sys.argv[1:] or [name for name in names if name not in SLOW]:
    if name not in names:
        sys.exit(f"benchmark must be one of {', '.join(names)}, got {name!r}")
    print(f"\n== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
