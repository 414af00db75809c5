"""Run every benchmark, or those named: ``python -m benchmarks [name ...]``."""

import importlib
import pkgutil
import sys

import benchmarks

names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name != "__main__"]
for name in sys.argv[1:] or names:
    if name not in names:
        sys.exit(f"no benchmark {name!r}; there are {', '.join(names)}")
    print(f"\n== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
