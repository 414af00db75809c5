"""Run tests under several BLAS kernels, and with NumPy's dispatched CPU features disabled.

``python -m tests.kernels -n 2 tests/core`` runs pytest once for each setting and prints a summary.
"""

import os
import platform
import subprocess
import sys

KERNELS = ("Haswell", "Nehalem", "Prescott", "SkylakeX", "Zen")
NO_DISPATCH = "NumPy without dispatched CPU features"
# OpenBLAS has one kernel for Prescott and all older CPUs, and reports the name of the oldest.
ALIASES = {"Prescott": "Katmai"}
ARCHITECTURES = """
import numpy, scipy.linalg, threadpoolctl
libraries = threadpoolctl.threadpool_info()
print(*{library["architecture"] for library in libraries if library["internal_api"] == "openblas"})
"""
FEATURES = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__.get(name)))
"""


def environment(**changes):
    """Return the environment without settings of BLAS kernels and CPU features, with one thread, and with changes."""
    settings = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES")
    kept = {name: value for name, value in os.environ.items() if name not in settings}
    return {**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **changes}


def environment_for(name):
    """Return the environment for a kernel or for `NO_DISPATCH`, or the reason why it is not available."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"kernels are for x86, this is {platform.machine()}"
    if name == NO_DISPATCH:
        features = _output(FEATURES, environment())
        return environment(NPY_DISABLE_CPU_FEATURES=features) if features else "NumPy dispatches no CPU feature"
    env = environment(OPENBLAS_CORETYPE=name)
    architecture = _output(ARCHITECTURES, env)
    # OpenBLAS silently falls back to another kernel if the CPU does not support the requested one.
    if architecture not in (name, ALIASES.get(name)):
        return f"requested {name}, OpenBLAS uses {architecture or 'no kernel'}"
    return env


def _output(code, env):
    process = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return process.stdout.strip()


def main(arguments):
    """Run pytest with the arguments in each setting, and return the number of settings that failed."""
    lines, n_failed = [], 0
    for name in (*KERNELS, NO_DISPATCH):
        env = environment_for(name)
        if isinstance(env, str):
            lines.append(f"{name}: skipped, {env}")
            continue
        print(f"--- {name}", flush=True)
        code = subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments], env=env, check=False).returncode
        n_failed += code != 0
        lines.append(f"{name}: {'passed' if code == 0 else f'failed, pytest returned {code}'}")
    print("---", *lines, sep="\n")
    return n_failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
