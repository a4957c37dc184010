"""The model that ships inside the package, as files."""

from importlib.resources import as_file, files
from pathlib import Path

MINIATURE = "miniature"
"""The model name that stands for the bundled miniature."""


def miniature_path() -> Path:
    """Returns the directory of the bundled miniature in Hugging Face form."""
    with as_file(files("envwright.policies.bundled").joinpath(MINIATURE)) as path:
        return path
