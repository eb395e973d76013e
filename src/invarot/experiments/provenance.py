"""Provenance of results: commit, versions and machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("invarot", "numpy", "scipy", "matplotlib", "torch")


def describe_commit(file: Path = Path(__file__)) -> str:
    """Return the commit of the checkout that contains ``file``, with ``-dirty`` if anything but ``results/`` has changed since.

    Without a checkout, the environment variable INVAROT_COMMIT (for copies on other machines), else the version.
    """
    # a package installed inside another checkout is not part of it: the file has to be tracked
    if _git(file, "ls-files", "--error-unmatch", file.name) is not None:
        found = _git(file, "describe", "--always")
        if found:  # a run writes into results/: that does not change the code
            clean = _git(file, "diff", "--quiet", "HEAD", "--", ":/", ":(top,exclude)results") is not None
            return found if clean else f"{found}-dirty"
    return os.environ.get("INVAROT_COMMIT") or f"invarot {versions().get('invarot', 'of unknown version')}"


def describe_machine() -> str:
    """Return a short description of the machine."""
    parts = [f"{platform.system()} {platform.machine()}", f"Python {platform.python_version()}"]
    parts += [f"{name} {number}" for name, number in versions().items() if name in ("numpy", "torch")]
    torch = sys.modules.get("torch")  # if torch was not imported, the GPU was not used
    if torch is not None and torch.cuda.is_available():
        parts.append(torch.cuda.get_device_name())
    return ", ".join(parts)


def versions() -> dict[str, str]:
    """Return the versions of the installed packages."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _git(file: Path, *words: str) -> str | None:
    """Return the output of git in the folder of ``file``; None if it fails or is not installed."""
    command = ["git", "-C", str(file.resolve().parent), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
