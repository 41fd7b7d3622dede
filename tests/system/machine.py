"""The machine under test: a small Debian root with systemd, created once and booted for each run.

`prepared_root` installs the tools it needs and creates the root; `boot` runs tests/system/inside.py in it and returns
the results. Everything has a time limit, and the root itself is never changed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parent.parent.parent
CACHE = Path("/var/cache/collector-system-test")
SUITE = "bookworm"
PACKAGES = ("dbus", "dbus-user-session", "libpam-systemd", "libstdc++6", "man-db", "python3", "systemd", "systemd-sysv")
TOOLS = {"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container", "unshare": "util-linux"}
BOOT_SECONDS = 540


def prepared_root() -> Path:
    """The root directory to boot, from the cache or created now, which takes a minute."""
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if missing:
        _run("apt-get", "update", "--quiet")
        _run("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *missing)
    digest = hashlib.sha256(" ".join(PACKAGES).encode()).hexdigest()[:12]
    root = CACHE / f"{SUITE}-{digest}"
    if not root.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = root.with_name(root.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        _run("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(fresh))
        fresh.rename(root)
    return root


def built_packages(directory: Path) -> dict[str, Path]:
    """Both packages by kind, built as `make package` does, by somebody whose files only they can read."""
    _run(sys.executable, str(TREE / "packaging" / "build"), "--output", str(directory), umask=0o077)
    return {kind: next(directory.glob(f"*.{kind}")) for kind in ("deb", "rpm")}


def boot(root: Path, exchange: Path) -> dict[str, Any]:
    """Boots, waits for the machine to power off, and reads the results."""
    command = ["unshare", "--mount", str(TREE / "tests" / "system" / "boot"), str(root), str(exchange), str(TREE)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=BOOT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise AssertionError(f"the machine was still up after {BOOT_SECONDS} s; see {exchange}/output.txt") from None
    results = exchange / "results.json"
    if not results.is_file():
        raise AssertionError(
            f"the machine wrote no results ({done.returncode}): {done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    found: dict[str, Any] = json.loads(results.read_text())
    return found


def _run(*command: str, umask: int = 0o022) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=900, check=False, umask=umask
    )
    assert done.returncode == 0, f"{' '.join(command)} failed: {(done.stdout + done.stderr)[-3000:]}"
