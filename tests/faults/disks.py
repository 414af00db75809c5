"""Faults of the disk: files that cannot grow, folders that cannot be written, and small file systems that are full."""

import ctypes
import os
import resource
import subprocess
from contextlib import contextmanager

CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


@contextmanager
def limited_files(size):
    """Let writes beyond a size fail with "File too large", as they fail on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def respect_permissions():
    """Let permissions apply to root, too, for the rest of this process."""
    if os.getuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, data):
        raise OSError(ctypes.get_errno(), "capget")
    for word in (0, 1):  # effective and permitted
        data[word] &= ~(1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH)
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")


@contextmanager
def small_disk(folder, size):
    """Mount a file system of some kilobytes, if this process may."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], capture_output=True).returncode:
        raise PermissionError("file systems can be mounted by root only")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
