"""Code that fits the model again and writes the report again."""

from __future__ import annotations

import ast
import inspect
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

import latefusion
from latefusion.datasets.files import SINGLE_CELL_SUFFIXES
from latefusion.interpretation.gather import ModelData, shorten
from latefusion.interpretation.outcomes import Outcome

# Readers of pandas for tables that are not text.
FRAME_READERS = {".parquet": "read_parquet", ".xlsx": "read_excel", ".feather": "read_feather"}
LIBRARIES = ("latefusion", "numpy", "scipy", "scikit-learn")


class Reproduction(NamedTuple):
    """How to obtain the same result.

    Attributes
    ----------
    command : str or None
        The command line, where one wrote the report.
    code : str
        The same in Python.
    seed : int or None
    parameters : list of (str, str)
    versions : list of (str, str)
    """

    command: str | None
    code: str
    seed: int | None
    parameters: list[tuple[str, str]]
    versions: list[tuple[str, str]]


def reproduction(
    data: ModelData,
    *,
    command: str | None = None,
    loading: str | None = None,
    fitting: str | None = None,
    new: bool = False,
    annotated: bool = False,
    outcome: Outcome | None = None,
) -> Reproduction:
    """Write the code.

    Parameters
    ----------
    data : ModelData
    command : str, default=None
    loading : str, default=None
        Python code that defines ``views``, and ``target``, ``annotation`` and ``clinic`` where there are such; by
        default lines that the reader has to complete.
    fitting : str, default=None
        Python code that defines ``model``; by default a fit on the views.
    new : bool, default=False
        Whether the samples are other ones than those of ``fit``.
    annotated : bool, default=False
        Whether the page has annotation besides known classes.
    outcome : Outcome, default=None

    Returns
    -------
    Reproduction
    """
    model = data.model
    imports = {"import latefusion as lf"}
    hinted = getattr(model, "hints_", None) is not None
    fit = f"model = {code_of(model, imports)}.fit(views{', **hints' * hinted})" if fitting is None else fitting
    given = {"target": data.target is not None, "annotation": annotated, "outcome": outcome is not None}
    options = "".join(f", {name}={name}" for name, is_given in given.items() if is_given) + ", new=True" * new
    if loading is None:
        missing = {"annotation = ...  # Load the annotation here.": annotated}
        missing |= {"clinic = ...  # Load the table of the outcome here.": outcome is not None}
        loading = "\n".join([_placeholder(data), *(line for line, is_missing in missing.items() if is_missing)])
    own = loading.split("\n")
    imports |= {"from latefusion.report import write_report", *filter(_is_import, own)}
    lines = [
        *sorted(imports, key=lambda line: (line.startswith("from"), line)),
        "",
        *(line for line in own if not _is_import(line)),
        *(["# Load the hints here, as arguments of fit.", "hints = {'y': ...}"] if hinted else []),
        fit,
        *([] if outcome is None else [_outcome_code(outcome, data, new=new)]),
        f'write_report(model, views, "report.html"{options})',
    ]
    parameters = model.get_params(deep=False)
    seed = parameters.get("random_state")
    return Reproduction(
        command,
        "\n".join(lines),
        int(seed) if isinstance(seed, (int, np.integer)) else None,
        [(name, repr(value)) for name, value in sorted(parameters.items())],
        _versions(),
    )


def loading_code(
    files: Sequence[str | os.PathLike[str]],
    *,
    reader: str = "load_files",
    **options: Any,
) -> str:
    """Python code that reads files as `latefusion cluster` does.

    Parameters
    ----------
    files : sequence of str or path-like
    reader : str, default="load_files"
        Function of `latefusion.datasets` that reads the files.
    **options : object
        Of this function; those that are None, False or empty are left out.

    Returns
    -------
    str
        It defines ``views`` and ``target``.

    Examples
    --------
    >>> from latefusion.report.reproduce import loading_code
    >>> print(loading_code(["genes.csv", "proteins.csv"], id_column="patient"))
    data = lf.datasets.load_files(['genes.csv', 'proteins.csv'], id_column='patient')
    views, target = data.views, data.target
    """
    given = "".join(f", {name}={value!r}" for name, value in options.items() if value)
    lines = [f"data = lf.datasets.{reader}({[os.fspath(file) for file in files]!r}{given})"]
    views = "data.views"
    if any(Path(file).suffix.lower() in SINGLE_CELL_SUFFIXES for file in files):
        lines.insert(0, "from latefusion.scverse.reading import normalize_modalities")
        views = "normalize_modalities(data.views).views"
    return "\n".join([*lines, f"views, target = {views}, data.target"])


def frame_code(file: str | os.PathLike[str], index: str | int | None = None) -> str:
    """Python code that reads a table with pandas.

    Parameters
    ----------
    file : str or path-like
    index : str or int, default=None
        The column of sample ids, which becomes the index.

    Returns
    -------
    str
        An expression.

    Examples
    --------
    >>> from latefusion.report.reproduce import frame_code
    >>> frame_code("clinic.parquet")
    "pandas.read_parquet('clinic.parquet')"
    """
    reader = FRAME_READERS.get(Path(file).suffix.lower())
    sniffed = ", sep=None, engine='python'" * (reader is None)  # finds the separator
    if reader in (None, "read_excel"):
        own = "" if index is None else f", index_col={index!r}"
        return f"pandas.{reader or 'read_csv'}({os.fspath(file)!r}{sniffed}{own})"
    own = f".set_index({index!r})" if isinstance(index, str) else ""
    return f"pandas.{reader}({os.fspath(file)!r}){own}"


def _is_import(line: str) -> bool:
    return line.startswith(("import ", "from "))


def _outcome_code(outcome: Outcome, data: ModelData, *, new: bool) -> str:
    """Python code that defines the outcome."""
    survival = outcome.table.survival
    given = f"survival={None if survival is None else (survival.time_name, survival.event_name)}"
    if new:
        return f"outcome = lf.outcome(model.predict(views), clinic, {given}, sample_ids=views.sample_ids)"
    # The first row is the model.
    others = [name for name in outcome.comparison["method"][1:].tolist() if not name.startswith("view ")]
    compared = [name for name in others if not name.endswith(", common samples")]
    return f"outcome = lf.outcome(model, clinic, {given}{', views=views, baselines=True' * bool(compared)})"


def _placeholder(data: ModelData) -> str:
    sizes = shorten([f"{view.name!r} ({data.n_samples} × {view.width})" for view in data.views], 10)
    comment = f"# Load your data here: {len(data.views)} view{'s' * (len(data.views) > 1)}, {sizes}."
    names = "views" if data.target is None else "views, target"
    return f"{comment}\n{names} = {'...' if data.target is None else '..., ...'}"


def code_of(value: Any, imports: set[str]) -> str:
    """An expression for a parameter or a whole estimator, without parameters that have their default.

    Parameters
    ----------
    value : object
    imports : set of str
        Lines that the expression needs are added.

    Returns
    -------
    str
        ``...`` for a value that cannot be written as code.
    """
    if isinstance(value, BaseEstimator):
        kind = type(value)
        name = f"lf.{kind.__name__}"
        if getattr(latefusion, kind.__name__, None) is not kind:
            name = kind.__name__
            imports.add(f"from {kind.__module__} import {name}")
        defaults = inspect.signature(kind).parameters
        given = [
            f"{key}={code_of(own, imports)}"
            for key, own in value.get_params(deep=False).items()
            if repr(own) != repr(defaults[key].default)
        ]
        return f"{name}({', '.join(given)})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {code_of(own, imports)}" for key, own in value.items()) + "}"
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        inside = ", ".join(code_of(own, imports) for own in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    try:
        names = {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return "..."
    return text if names <= {"range", "slice"} else "..."


def _versions() -> list[tuple[str, str]]:
    found = []
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # run from a source tree
            continue
    return [*found, ("Python", platform.python_version()), ("system", platform.system())]
