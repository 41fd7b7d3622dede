"""Makes this process a quiet guest (promise 8): last in line for processor and disk, and frugal with memory.

In: how far to step back. Out: what worked, in words; anything the system does not offer or allow is skipped. Invariant:
this runs before the first thread starts, because threads inherit the priorities of their creator.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import sys

IOPRIO_SET = {"x86_64": 251, "aarch64": 30, "riscv64": 30, "armv7l": 314, "ppc64le": 273, "s390x": 282}
IOPRIO_WHO_PROCESS = 1
IOPRIO_CLASS_SHIFT = 13
IDLE = 3 << IOPRIO_CLASS_SHIFT
LOWEST_BEST_EFFORT = 2 << IOPRIO_CLASS_SHIFT | 7
# Options for glibc's allocator. Without the last two, it learns from the first large block that is freed to keep such
# blocks: after a scan of 400 MB, 8 MB from long lines and requests stayed unused. Lower limits would cost page faults.
ALLOCATOR = {
    -8: 1,  # M_ARENA_MAX: otherwise each thread has an arena of its own, and keeps what it frees
    -3: 2_000_000,  # M_MMAP_THRESHOLD: larger blocks go back to the system at once
    -1: 4_000_000,  # M_TRIM_THRESHOLD: no more than this is kept at the end of the heap
}
IOPOL_TYPE_DISK, IOPOL_SCOPE_PROCESS, IOPOL_THROTTLE = 0, 0, 3


def step_back(nice: int) -> dict[str, str]:
    """Lowers the priority for processor and disk. Returns what each is now."""
    return {"processor": _lower_processor(nice), "disk": _lower_disk()}


def hold_little_memory() -> None:
    """Makes the C library keep little of the memory that is freed. Call it before there are threads."""
    with contextlib.suppress(OSError, AttributeError):
        for option, value in ALLOCATOR.items():
            ctypes.CDLL(None).mallopt(option, value)


def give_back_memory() -> None:
    """Returns memory to the system that a large pass needed and nothing uses any more; glibc would keep it."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _lower_processor(nice: int) -> str:
    try:
        now = os.getpriority(os.PRIO_PROCESS, 0)
        if nice > now:
            os.setpriority(os.PRIO_PROCESS, 0, nice)
        return f"nice {max(nice, now)}"
    except OSError as error:
        return f"unchanged ({error.strerror})"


def _lower_disk() -> str:
    try:
        if sys.platform == "darwin":
            return _lower_disk_darwin()
        return _lower_disk_linux()
    except (OSError, AttributeError) as error:
        return f"unchanged ({type(error).__name__})"


def _lower_disk_linux() -> str:
    number = IOPRIO_SET.get(platform.machine())
    if number is None:
        return f"unchanged (unknown machine {platform.machine()})"
    libc = ctypes.CDLL(None, use_errno=True)
    for name, value in (("idle", IDLE), ("lowest", LOWEST_BEST_EFFORT)):
        if libc.syscall(number, IOPRIO_WHO_PROCESS, 0, value) == 0:
            return name
    return f"unchanged ({os.strerror(ctypes.get_errno())})"


def _lower_disk_darwin() -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setiopolicy_np(IOPOL_TYPE_DISK, IOPOL_SCOPE_PROCESS, IOPOL_THROTTLE) == 0:
        return "throttled"
    return f"unchanged ({os.strerror(ctypes.get_errno())})"
