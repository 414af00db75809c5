"""Child processes that are killed at random moments. They are forked, so that they start without importing anything."""

import os
import signal
import time
import traceback
from pathlib import Path

KILLED = -signal.SIGKILL


def start(function, folder):
    """Run a function in a forked process, with its output in a file; return the process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 99
    try:
        output = os.open(Path(folder, "output.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(folder)
        function()
        status = 0
    except SystemExit as error:
        status = error.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def wait(pid, seconds):
    """Wait for a process; kill it after some seconds. Return its exit status, `KILLED` if it was killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def count(name):
    """Append a byte to a file of the working directory. `counted` returns the number of bytes."""
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, b".")
    os.close(file)


def counted(folder, name):
    file = Path(folder, name)
    return file.stat().st_size if file.exists() else 0
