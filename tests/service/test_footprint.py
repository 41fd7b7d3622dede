"""Freed memory goes back to the system, even from between blocks that are kept."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from collector.service import footprint

def megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

if "held" in sys.argv:
    footprint.hold_little_memory()
large, kept, before = bytearray(b"x") * 3_000_000, [], megabytes()
del large
blocks = []
for _ in range(20):
    blocks.append(bytearray(b"x") * 2_500_000)
    kept.append(bytearray(b"x") * 2_000)
blocks.clear()
print(megabytes() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators are left as they are")
def test_large_freed_blocks_go_back_to_the_system() -> None:
    def kept(*arguments: str) -> float:
        command = [sys.executable, "-c", PROGRAM, *arguments]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert kept("held") < 5 < 40 < kept()
