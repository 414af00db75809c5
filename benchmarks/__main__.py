"""Run the benchmarks, or those named: ``python -m benchmarks [name ...]``. Studies of minutes run by name alone."""

import importlib
import pkgutil
import sys

import benchmarks

STUDIES = ("audit", "defaults", "flagship", "competitors", "shares", "wrong_labels")

names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name != "__main__"]
for name in sys.argv[1:] or [name for name in names if name not in STUDIES]:
    if name not in names:
        sys.exit(f"no benchmark {name!r}; there are {', '.join(names)}")
    print(f"\n== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
