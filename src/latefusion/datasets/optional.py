"""Libraries that only some formats need."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any


def require(module: str, file: Path, extra: str = "io") -> Any:
    """Import a module, or say which file needs it and which extra of this package brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"Reading {str(file)!r} needs {module}, which is not installed: pip install 'latefusion[{extra}]'."
        ) from error
