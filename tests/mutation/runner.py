"""Runs the tests that execute a changed line, fastest first, until one fails.

All tests are collected once. A mutant is tested in a fork of this process, in which the code of the changed function is
replaced. What runs at import is tested in a new process with the changed file instead.
"""

import gc
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from coverage import Coverage
from scipy.stats import beta

from tests.mutation.changes import ROOT

SECONDS = 120
"""CPU time of a mutant in addition to twice the time of its tests, and a fifth of that of a new process."""
FLAGS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
_FORK = multiprocessing.get_context("fork")


class Runner:
    """Plugin of pytest that tests mutants instead of running each test once.

    Parameters
    ----------
    root : Path
        Copy of the repository that pytest runs in.
    packages : sequence of str
        Packages whose tests run.
    mutants : sequence of Mutant
    report : callable
        Called with each mutant and its outcome: killed, timeout or survived.
    table : Path
        File with the duration of each test and the lines it executes; written if it does not exist.
    """

    def __init__(self, root, packages, mutants, report, table):
        self.root, self.packages, self.mutants, self.report, self.table = root, packages, mutants, report, table

    def run(self):
        """Test the mutants."""
        os.chdir(self.root)
        for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "spmld")]:
            del sys.modules[name]
        sys.path[:] = [str(self.root), f"{self.root}/src", *(p for p in sys.path if Path(p or ".").resolve() != ROOT)]
        self.coverage = Coverage(data_file=None, source=["src/spmld"], config_file=False)
        self.coverage.start()
        paths = [path for name in self.packages for path in (f"src/spmld/{name}", f"tests/{name}")]
        code = pytest.main([*FLAGS, *paths], plugins=[self])
        if code != 0:
            raise RuntimeError("a test fails without a change; run make test")

    def pytest_runtestloop(self, session):
        """Record what each test executes, then test the mutants in forks."""
        if not self.table.exists():
            process = _FORK.Process(target=self._record, args=(session,))
            process.start()
            process.join()
        self.coverage.stop()
        if not self.table.exists():
            session.shouldfail = "a test failed"
            return True
        session.config.pluginmanager.unregister(name="terminalreporter")
        table = json.loads(self.table.read_text())
        durations = table["durations"]
        items = sorted(session.items, key=lambda item: durations.get(item.nodeid, 0.0))
        tests = defaultdict(set)
        for name, files in table["lines"].items():
            for file, lines in files.items():
                for line in lines:
                    tests[file, line].add(name)
        self.functions = [function for function in gc.get_objects() if isinstance(function, FunctionType)]
        for mutant in self.mutants:
            first, last = mutant.statement
            names = set().union(*(tests[mutant.file, line] for line in range(first, last + 1)))
            package = Path(mutant.file).parts[2]
            chosen = [item for item in items if item.nodeid in names and f"/{package}/" in item.nodeid]
            # A test without a duration is new, and is not in the table.
            chosen += [item for item in items if item.nodeid not in durations and f"/{package}/" in item.nodeid]
            at_import = not mutant.in_function or any("" in tests[mutant.file, i] for i in range(first, last + 1))
            seconds = SECONDS + 2 * sum(durations.get(item.nodeid, 0.0) for item in chosen)
            started = time.perf_counter()
            self.report(mutant, self.judge(mutant, chosen, at_import, seconds), time.perf_counter() - started)
        return True

    def _record(self, session):
        """Write the duration of each test and the lines it executes."""
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        durations = {}
        for i, item in enumerate(session.items):
            self.coverage.switch_context(item.nodeid)
            started = time.process_time()
            next_item = session.items[i + 1] if i + 1 < len(session.items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            durations[item.nodeid] = time.process_time() - started
            if session.testsfailed:
                print(f"failed without a change: {item.nodeid}", file=sys.stderr, flush=True)
                os._exit(1)
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = defaultdict(dict)
        for file in data.measured_files():
            for line, names in data.contexts_by_lineno(file).items():
                for name in names:
                    lines[name].setdefault(str(Path(file).relative_to(self.root)), []).append(line)
        self.table.write_text(json.dumps({"durations": durations, "lines": lines}))
        os._exit(0)

    def judge(self, mutant, items, at_import, seconds):
        """Test a mutant; return killed, timeout or survived."""
        file = self.root / mutant.file
        original = file.read_bytes()
        file.write_bytes(mutant.source())  # for processes that the tests start
        try:
            if at_import:
                return self._in_new_process(mutant)
            return _outcome(_FORK.Process(target=self._in_fork, args=(mutant, original, items, seconds)))
        finally:
            file.write_bytes(original)

    def _in_fork(self, mutant, original, items, seconds):
        """Replace the code of the changed function, run the tests and exit with 1 if one fails."""
        _limit(int(seconds))
        file = str(self.root / mutant.file)
        functions = [function for function in self.functions if function.__code__.co_filename == file]
        if not replace_code(functions, file, original, mutant.source()):
            os._exit(self._in_new_process(mutant) != "survived")
        for i, item in enumerate(items):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[i + 1] if i + 1 < len(items) else None)
            if item.session.testsfailed:
                os._exit(1)
        os._exit(0)

    def _in_new_process(self, mutant):
        """Run the tests of default values and those that name the changed module, then the others of its package."""
        package, name = Path(mutant.file).parts[2], Path(mutant.file).stem
        paths = sorted((self.root / "tests" / package).glob("test_*.py"))
        near = [path for path in paths if name.strip("_") in path.stem or f".{name} import" in path.read_text()]
        for stage in (
            ["tests/test_defaults.py", f"src/spmld/{package}", *near],
            [path for path in paths if path not in near],
        ):
            command = [sys.executable, "-m", "pytest", *FLAGS, *map(str, stage)]
            env = {**os.environ, "PYTHONPATH": f"{self.root}/src:{self.root}", "PYTHONDONTWRITEBYTECODE": "1"}
            process = subprocess.run(
                command, env=env, cwd=self.root, capture_output=True, preexec_fn=_limit, check=False
            )
            if stage and process.returncode not in (0, 5):
                return "timeout" if process.returncode < 0 else "killed"
        return "survived"


def replace_code(functions, file, original, changed):
    """Give functions of a file their changed code; return whether that was possible."""
    old, new = (dict(_codes(compile(text, file, "exec"))) for text in (original, changed))
    if old.keys() != new.keys():
        return False
    try:
        for function in functions:
            key = _key(function.__code__)
            if key in new and new[key] != old[key]:
                function.__code__ = new[key]
    except ValueError:  # other free variables
        return False
    return True


def _codes(code):
    """Yield the code below the code of a module, with its key."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield _key(constant), constant
            yield from _codes(constant)


def _key(code):
    return code.co_qualname, code.co_firstlineno, code.co_varnames[: code.co_argcount]


def _limit(seconds=5 * SECONDS):
    """Limit the CPU time of a process, and discard its output."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(null, number)


def _outcome(process):
    """Run a process; return killed, timeout or survived."""
    process.start()
    process.join(20 * SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    return "survived" if process.exitcode == 0 else "timeout" if process.exitcode < 0 else "killed"


def temporary_copy():
    """Return a temporary folder with a copy of what the tests need."""
    folder = tempfile.TemporaryDirectory()
    for part in ("src", "tests", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "_build")
        shutil.copytree(ROOT / part, Path(folder.name) / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder.name)
    return folder


def interval(killed, total):
    """Return the 95 % confidence interval of Clopper and Pearson.

    >>> [round(bound, 3) for bound in interval(26, 30)]
    [0.693, 0.962]
    """
    low = beta.ppf(0.025, killed, total - killed + 1) if killed else 0.0
    return float(low), float(beta.ppf(0.975, killed + 1, total - killed) if killed < total else 1.0)
