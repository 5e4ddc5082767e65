"""Methods of other packages, which offer them as entry points of the group ``latefusion.methods``.

An entry point has the name of the method and refers to a class, as in a ``pyproject.toml``::

    [project.entry-points."latefusion.methods"]
    my-method = "my_package:MyMethod"

The class needs the parameter ``n_clusters``, defaults for all other parameters, and ``fit_predict(X)`` for `Views`. The
page "Add your own method" of the guide describes what it may have besides. Nothing is imported before it is used.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from latefusion.baselines import METHODS
from latefusion.experiments.protocol import GAM, LAM, OURS

GROUP = "latefusion.methods"
# Names of this package, also those of its command line.
RESERVED = {name.lower() for name in (*METHODS, OURS, GAM, LAM, "late-fusion", "gam", "lam")}
NAME = r"\w[\w.+-]*"


@dataclass(frozen=True)
class OutsideMethod:
    """A method of another package.

    Attributes
    ----------
    name : str
    point : EntryPoint
    """

    name: str
    point: EntryPoint

    @property
    def distribution(self) -> str:
        """Name and version of the distribution."""
        found = self.point.dist
        return "an unknown distribution" if found is None else f"{found.name} {found.version}"

    @property
    def title(self) -> str:
        """Name, distribution and entry point, for messages."""
        return f"Method {self.name!r} of {self.distribution} (entry point {self.point.value!r})"

    def load(self) -> Any:
        """Import the class and check its interface.

        Returns
        -------
        class

        Raises
        ------
        ValueError
            If the import fails, or the class lacks something; the message names the distribution and entry point.
        """
        try:
            found = self.point.load()
        except Exception as error:  # code of other packages may raise anything
            raise ValueError(f"{self.title} cannot be imported: {type(error).__name__}: {error}") from error
        problem = _problem(found)
        if problem:
            raise ValueError(f"{self.title} {problem}.")
        return found


@cache
def outside_methods() -> dict[str, OutsideMethod]:
    """Methods of other packages by name, without those whose names cannot be used.

    Returns
    -------
    dict of str to OutsideMethod
        Not imported yet.
    """
    found = _installed()
    return {one.name: one for one in found if not _name_problem(one, found)}


@cache
def refused_methods() -> dict[str, str]:
    """Methods of other packages that cannot be used, and why. All others are imported.

    Returns
    -------
    dict of str to str
        By name; reasons name the distribution and the entry point.
    """
    found = _installed()
    refused = {one.name: f"{one.title} {problem}." for one in found if (problem := _name_problem(one, found))}
    for method in outside_methods().values():
        try:
            method.load()
        except ValueError as error:
            refused[method.name] = str(error)
    return refused


def refusal(name: str) -> str:
    """Why the name of a method of another package cannot be used; empty if it can, or if there is none.

    Parameters
    ----------
    name : str
        Ignoring case.

    Returns
    -------
    str
    """
    found = _installed()
    reasons = [f"{one.title} {_name_problem(one, found)}." for one in found if one.name.lower() == name.lower()]
    return reasons[0] if reasons and name.lower() not in {one.lower() for one in outside_methods()} else ""


def _installed() -> list[OutsideMethod]:
    points = sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value))
    return [OutsideMethod(one.name, one) for one in points]


def _name_problem(method: OutsideMethod, methods: list[OutsideMethod]) -> str:
    """Why a name cannot be used; empty if it can. Case does not count."""
    name = method.name.lower()
    if not re.fullmatch(NAME, name):
        return "has a name that is not made of letters, digits and the signs . _ + -"
    if name in RESERVED:
        return "has the name of a method of latefusion. Rename the entry point"
    others = [one for one in methods if one.name.lower() == name and one is not method]
    if others:
        return f"has the same name as {' and '.join(one.title for one in others)}. Uninstall one of them"
    return ""


def _problem(found: Any) -> str:
    """What a class lacks; empty if it has the whole interface."""
    if not inspect.isclass(found):
        return f"is {found!r:.60}, but must be a class"
    if not callable(getattr(found, "fit_predict", None)):
        return f"has no method fit_predict in the class {found.__name__}"
    parameters = inspect.signature(found).parameters
    if "n_clusters" not in parameters:
        return f"has no parameter n_clusters in the class {found.__name__}"
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        name
        for name, one in parameters.items()
        if one.default is one.empty and one.kind not in variable and name != "n_clusters"
    ]
    return f"has the parameter {needed[0]!r} without a default in the class {found.__name__}" if needed else ""
