"""What decides a run's numbers besides its recipe: versions, machine, the state of the code."""

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any

from envwright.recipe import Recipe

PACKAGES = (
    "envwright",
    "torch",
    "transformers",
    "trl",
    "accelerate",
    "datasets",
    "numpy",
    "pydantic",
    "pyarrow",
    "httpx",
)


def environment(recipe: Recipe) -> dict[str, Any]:
    """Returns what else decides the numbers: versions, machine, seed, and the state of the code."""
    versions: dict[str, str] = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": platform.machine(),
        "packages": versions,
        "seed": recipe.seed,
        "git": _git_state(),
    }


def _git_state() -> str | None:
    """Returns the commit of the code, "+" if there are changes; None outside a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
