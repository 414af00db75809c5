"""Commands in processes of their own, which are forked from a server that has imported the libraries.

A new interpreter needs more than a second to import them, and the tests run hundreds of commands. Like a new
interpreter, a forked process has its own folder, environment, output and exit status.
"""

import atexit
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

TIMEOUT = 300  # seconds
LIBRARIES = (
    "matplotlib.pyplot openpyxl pandas pyarrow.parquet rich.console scipy.stats skops.io sklearn.compose "
    "sklearn.ensemble sklearn.linear_model sklearn.model_selection sklearn.svm "
    "spmld.app.commands.fit spmld.app.reports spmld.app.review"
)
os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(LIBRARIES.split())


def run_command(folder, *args, **environment):
    """Run `spmld`; return exit status, output and messages. A variable of the environment that is None is removed."""
    return _run(spmld, *map(str, args), folder=folder, **environment)


def run_python(folder, code, **environment):
    """Run Python code as a script; return exit status, output and messages."""
    return _run(script, code, folder=folder, **environment)


def start(function, *args, folder, out, err, **environment):
    """Start a function with its output in two files, which may be a terminal; return the process."""
    environment = {key: value for key, value in {**os.environ, **environment}.items() if value is not None}
    process = _SERVER.Process(target=_call, args=(function, args, folder, (out, err), environment))
    process.start()
    return process


def spmld(*args):
    """Run `spmld` in this process."""
    from spmld.app.commands import main

    main(list(args))


def script(code):
    """Run Python code in this process."""
    exec(compile(code, "<script>", "exec"), {"__name__": "__main__"})


def _run(function, *args, folder, **environment):
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name, "out"), Path(name, "err")
        process = start(function, *args, folder=folder, out=out, err=err, **environment)
        process.join(TIMEOUT)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"{function.__name__} {args} did not end in {TIMEOUT} s")
        return process.exitcode, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")


def _call(function, args, folder, streams, environment):
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, path in enumerate(streams, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOCTTY, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = [function.__name__]
    try:
        function(*args)
    finally:
        atexit._run_exitfuncs()  # as at the end of an interpreter; forked processes do not call them
