"""Libraries that only some formats need."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any


def require(module: str, file: Path, extra: str = "io", action: str = "Reading") -> Any:
    """Import a module, or raise an error that names the file that needs it and the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{action} {str(file)!r} needs {module}, which is not installed: pip install 'latefusion[{extra}]'."
        ) from error
