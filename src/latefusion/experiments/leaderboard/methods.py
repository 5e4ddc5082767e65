"""The methods of the leaderboard."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from latefusion.baselines import CONSENSUS_METHODS, METHODS
from latefusion.estimators import (
    ConsensusClustering,
    GlobalAlignmentClustering,
    LateFusionClustering,
    LocalAlignmentClustering,
)
from latefusion.experiments.leaderboard.code import method_version
from latefusion.experiments.leaderboard.results import MethodEntry
from latefusion.experiments.outside_methods import OutsideMethod, outside_methods, refusal, refused_methods
from latefusion.experiments.protocol import GAM, LAM, OURS

NO_MISSING_VIEWS = "does not support missing views"
NEEDS_FEATURES = "needs features"
# The parameter `similarity` for views that are no features.
SIMILARITIES = {"kernels": "precomputed", "clusterings": "labels"}

OUR_CLASSES: dict[str, Any] = {
    OURS: LateFusionClustering,
    GAM: GlobalAlignmentClustering,
    LAM: LocalAlignmentClustering,
    "ConsensusClustering": ConsensusClustering,
}


@dataclass(frozen=True)
class Entrant:
    """A method of the leaderboard.

    Attributes
    ----------
    entry : MethodEntry
    method : class or OutsideMethod
        A clusterer with the parameter ``n_clusters`` and a method ``fit_predict``.
    input : {"views", "clusterings", "both"}, default="views"
        What it clusters.
    """

    entry: MethodEntry
    method: Any
    input: str = "views"

    @property
    def estimator(self) -> Any:
        """The class; that of another package is imported."""
        return self.method.load() if isinstance(self.method, OutsideMethod) else self.method

    def version(self, module: str) -> str:
        """Version of the code that the method uses on a data set.

        Parameters
        ----------
        module : str
            Name of the module of the class of the data set.

        Returns
        -------
        str
        """
        release = self.method.distribution if isinstance(self.method, OutsideMethod) else ""
        return method_version(self.estimator.__module__, module, release=release)

    @property
    def name(self) -> str:
        """Name on the leaderboard."""
        return self.entry.name

    @property
    def has_seed(self) -> bool:
        """Whether the result can depend on a seed."""
        return self._takes("random_state")

    @property
    def takes_missing_views(self) -> bool:
        """Whether samples may lack views."""
        return bool(getattr(self.estimator, "accepts_missing_views", False))

    def enters(self, kind: str) -> bool:
        """Whether the method is on a board with a kind of data.

        Parameters
        ----------
        kind : {"features", "kernels", "clusterings"}

        Returns
        -------
        bool
        """
        return self.input in ("both", "clusterings" if kind == "clusterings" else "views")

    def refusal(self, kind: str, missing: float) -> str:
        """Why the method cannot run on a data set, whatever its size; empty if it can.

        Parameters
        ----------
        kind : {"features", "kernels", "clusterings"}
        missing : float
            Share of missing rows.

        Returns
        -------
        str
        """
        if missing and not self.takes_missing_views:
            return NO_MISSING_VIEWS
        return NEEDS_FEATURES if kind == "kernels" and not self._takes("similarity") else ""

    def configured(self, n_clusters: int, kind: str, seed: int) -> Any:
        """The unfitted estimator with its default parameters.

        Parameters
        ----------
        n_clusters : int
        kind : {"features", "kernels", "clusterings"}
        seed : int

        Returns
        -------
        estimator
        """
        options: dict[str, Any] = {"n_clusters": n_clusters}
        if self.has_seed:
            options["random_state"] = seed
        if kind in SIMILARITIES and self._takes("similarity"):
            options["similarity"] = SIMILARITIES[kind]
        return self.estimator(**options)

    def _takes(self, parameter: str) -> bool:
        return parameter in inspect.signature(self.estimator).parameters


@cache
def entrants() -> dict[str, Entrant]:
    """All methods by name: ours, the others by year, those of other packages.

    A class that `METHODS` has under two names counts once.
    """
    classes = {**OUR_CLASSES, **METHODS, **CONSENSUS_METHODS}
    rows = files("latefusion.experiments.leaderboard").joinpath("methods.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(rows.splitlines()):
        name, estimator = row["name"], classes[row["name"]]
        path = f"{estimator.__module__}.{estimator.__qualname__}"
        year = int(row["year"]) if row["year"] else None
        found[name] = Entrant(MethodEntry(name, path, year, row["family"], row["page"]), estimator, row["input"])
    for name, method in outside_methods().items():
        found[name] = Entrant(MethodEntry(name, method.point.value.replace(":", "."), None, "outside", None), method)
    return found


def find_entrants(names: Sequence[str] = ()) -> list[Entrant]:
    """Methods by their names, ignoring case.

    Parameters
    ----------
    names : sequence of str, default=()
        All that can be used when empty.

    Returns
    -------
    list of Entrant

    Raises
    ------
    ValueError
        If a name is unknown, or that of a method of another package that cannot be used.
    """
    if not names:
        return [entrant for name, entrant in entrants().items() if name not in refused_methods()]
    known = {name.lower(): entrant for name, entrant in entrants().items()}
    for name in names:
        if name.lower() not in known:
            raise ValueError(refusal(name) or f"Unknown method {name!r}. Choose from {', '.join(entrants())}.")
    found = [known[name.lower()] for name in names]
    for entrant in found:
        _ = entrant.estimator  # an error if it cannot be imported
    return found
