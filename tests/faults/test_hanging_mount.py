"""With a file server that does not answer, an exclusion is saved before anything on that server is looked at."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.sink import PATIENCE

# A mounted file system that never answers. Once the file `until` exists, every call to it fails instead.
HANGING = """
import ctypes, os, struct, subprocess, sys, threading, time
place, until, *command = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
fuse = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0"
if libc.mount(b"hangs", place.encode(), b"fuse", 0, options.encode()):
    sys.exit(99)
request = os.read(fuse, 1 << 20)
unique = struct.unpack("<IIQ", request[:16])[2]
body = struct.pack("<IIIIHHI", 7, 19, 0, 0, 0, 0, 65536) + bytes(40)
os.write(fuse, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
os.set_inheritable(fuse, False)
child = subprocess.Popen(command)
while not os.path.exists(until) and child.poll() is None:
    time.sleep(0.02)
os.close(fuse)
sys.exit(child.wait())
"""


def can_mount() -> bool:
    """Whether this process may have its own mounts, and FUSE file systems."""
    if not (sys.platform == "linux" and os.geteuid() == 0 and os.path.exists("/dev/fuse") and shutil.which("unshare")):
        return False
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="takes root, mounts and FUSE")
def test_an_exclusion_is_saved_while_the_mount_of_the_root_hangs(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("hello")
    agent, answers = Agent(home, names_its_root=False), tmp_path / "answers again"
    said, place = home.path / ".config" / "collector" / "collector.toml", home.root / "projects"
    command = [*agent.program, "exclude", "/work/private", "--state", str(agent.state)]
    hanging = ["unshare", "-m", sys.executable, "-c", HANGING, str(place), str(answers), *command]
    process = subprocess.Popen(hanging, env=agent.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + PATIENCE
        while not said.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if process.poll() == 99:
            pytest.skip("no FUSE may be mounted here")
        assert said.exists()
        assert "/work/private" in said.read_text()
    finally:
        answers.touch()
        process.communicate(timeout=PATIENCE)
