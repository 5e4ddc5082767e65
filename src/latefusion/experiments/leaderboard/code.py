"""Version of the code that one method uses, so that a change of another method leaves its results valid."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from functools import cache
from pathlib import Path

PACKAGE = "latefusion"
BOARD = f"{PACKAGE}.experiments.leaderboard"
# What every cell is computed with, beside its method.
EVALUATION = f"{BOARD}.evaluation"
# Modules that numbers do not depend on: lists of methods, the layout of results, and what fitted models print.
OTHERS = (f"{BOARD}.methods", f"{BOARD}.results", f"{PACKAGE}.summaries")


def method_version(*modules: str, release: str = "") -> str:
    """Hash of the code of modules and of all modules of this package that they import, directly or not.

    Parameters
    ----------
    *modules : str
        Names of the module of a method, and of others that a result depends on. The method may be outside of this
        package. Then modules of its own package count, too.
    release : str, default=""
        Name and version of the distribution of such a module, for code that is not in Python.

    Returns
    -------
    str
        Docstrings, comments and layout do not change it.
    """
    found: set[str] = set()
    waiting = [*modules, EVALUATION]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in OTHERS:
            found.add(name)
            waiting += _imports(name)
    return hashlib.sha256("".join([*map(_code, sorted(found)), release]).encode()).hexdigest()[:12]


@cache
def _tree(module: str) -> ast.Module:
    path = _path(module)
    tree = ast.parse("" if path is None else path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and body
            and ast.get_docstring(node) is not None
        ):
            body.pop(0)
    return tree


@cache
def _code(module: str) -> str:
    """Hash of one module."""
    return hashlib.sha256(f"{module} {ast.dump(_tree(module))}".encode()).hexdigest()


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules of this package, and of the package of a module itself, that the module imports."""
    names: list[str] = []
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node.level, node.module or "")
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if _counts(name, module) and _path(name) is not None)


def _absolute(module: str, level: int, name: str) -> str:
    """The name of an imported module; a level above zero is relative to the module."""
    if not level:
        return name
    path = _path(module)
    package = module if path is not None and path.name == "__init__.py" else module.rpartition(".")[0]
    return importlib.util.resolve_name("." * level + name, package)


def _counts(name: str, module: str) -> bool:
    own = module.partition(".")[0]
    return name.startswith(f"{PACKAGE}.") or (own != PACKAGE and name.partition(".")[0] == own)


@cache
def _path(module: str) -> Path | None:
    """The source file of a module, without an import of it; None if there is none."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    if loaded is not None:
        return Path(loaded) if loaded.endswith(".py") else None
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, AttributeError, ValueError):  # a name in a module, not a module
        return None
    return None if spec is None or spec.origin is None or not spec.origin.endswith(".py") else Path(spec.origin)
