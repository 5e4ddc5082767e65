"""The methods of the leaderboard."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from latefusion.baselines import METHODS
from latefusion.estimators import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering
from latefusion.experiments.leaderboard.results import MethodEntry
from latefusion.experiments.protocol import GAM, LAM, OURS

NO_MISSING_VIEWS = "does not support missing views"
NEEDS_FEATURES = "needs features"


@dataclass(frozen=True)
class Entrant:
    """A method of the leaderboard.

    Attributes
    ----------
    entry : MethodEntry
    estimator : class
        A clusterer with the parameter ``n_clusters`` and a method ``fit_predict``.
    """

    entry: MethodEntry
    estimator: Any

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
        return bool(getattr(self.estimator, "_accepts_missing_views", False))

    def refusal(self, kind: str, missing: float) -> str:
        """Why the method cannot run on a data set, whatever its size; empty if it can.

        Parameters
        ----------
        kind : {"features", "kernels"}
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
        kind : {"features", "kernels"}
        seed : int

        Returns
        -------
        estimator
        """
        options: dict[str, Any] = {"n_clusters": n_clusters}
        if self.has_seed:
            options["random_state"] = seed
        if kind == "kernels":
            options["similarity"] = "precomputed"
        return self.estimator(**options)

    def _takes(self, parameter: str) -> bool:
        return parameter in inspect.signature(self.estimator).parameters


@cache
def entrants() -> dict[str, Entrant]:
    """All methods by name: ours, then the others by year. A class that `METHODS` has under two names counts once."""
    classes = {OURS: LateFusionClustering, GAM: GlobalAlignmentClustering, LAM: LocalAlignmentClustering, **METHODS}
    rows = files("latefusion.experiments.leaderboard").joinpath("methods.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(rows.splitlines()):
        name, estimator = row["name"], classes[row["name"]]
        path = f"{estimator.__module__}.{estimator.__qualname__}"
        year = int(row["year"]) if row["year"] else None
        found[name] = Entrant(MethodEntry(name, path, year, row["family"], row["page"]), estimator)
    return found


def find_entrants(names: Sequence[str] = ()) -> list[Entrant]:
    """Methods by their names, ignoring case; all when empty.

    Parameters
    ----------
    names : sequence of str, default=()

    Returns
    -------
    list of Entrant
    """
    known = {name.lower(): entrant for name, entrant in entrants().items()}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        raise ValueError(f"Unknown method {unknown[0]!r}. Choose from {', '.join(entrants())}.")
    return [known[name.lower()] for name in names] if names else list(known.values())
