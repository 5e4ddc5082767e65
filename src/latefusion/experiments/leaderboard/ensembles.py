"""Data sets of the board "clusterings": an ensemble of k-means labelings, in place of the features it was made of."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from latefusion.experiments.leaderboard.problems import BoardSet, Problem, class_codes, load_data
from latefusion.experiments.leaderboard.results import ViewEntry
from latefusion.types import Views

N_LABELINGS = 20
# The largest data sets that ensembles are made of.
MOST_SAMPLES = 2000
# More columns are replaced by so many principal components.
MOST_COLUMNS = 200


@dataclass(frozen=True)
class EnsembleSet(BoardSet):
    """An ensemble of labelings on a board; another one for every seed.

    Attributes
    ----------
    lowest : int
        Least number of clusters of a labeling; the largest is twice the number of classes.
    rate : float
        Positive, because labelings are drawn for every seed, as removed rows are.
    """

    lowest: int = 2
    rate: float = 1.0

    def problem(self, seed: int) -> Problem:
        """Labelings and classes.

        Parameters
        ----------
        seed : int

        Returns
        -------
        Problem
        """
        target = class_codes(load_data(self.path, self.origin).target)
        labelings = draw_labelings(table_of(self.path, self.origin), self.lowest, 2 * self.entry.n_clusters, seed)
        return Problem(Views({name: labels[:, None] for name, labels in labelings.items()}), target)


def ensemble_sets(source: BoardSet) -> Iterator[EnsembleSet]:
    """The ensembles that are made of a data set: with few clusters, and with at least half as many as classes.

    Parameters
    ----------
    source : BoardSet

    Yields
    ------
    EnsembleSet
        None for kernels, missing views, and many samples.
    """
    entry = source.entry
    if entry.kind != "features" or entry.missing or entry.n_samples > MOST_SAMPLES:
        return
    for lowest in dict.fromkeys((2, max(2, entry.n_clusters // 2))):
        words = f"{lowest} to {2 * entry.n_clusters} clusters"
        own = replace(
            entry,
            name=f"{entry.name}, {words}",
            title=f"{entry.title}, {words}",
            board="clusterings",
            kind="clusterings",
            views=tuple(ViewEntry(name_of(position), 1) for position in range(N_LABELINGS)),
        )
        yield EnsembleSet(own, source.path, source.origin, f"{source.checksum} clusterings {lowest}", lowest=lowest)


def name_of(position: int) -> str:
    """Name of a labeling.

    Parameters
    ----------
    position : int

    Returns
    -------
    str
    """
    return f"labeling {position + 1}"


def draw_labelings(table: NDArray[np.float64], lowest: int, highest: int, seed: int) -> dict[str, NDArray[np.intp]]:
    """Labelings by single starts of k-means with random numbers of clusters.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_columns)
    lowest, highest : int
        Range of the numbers of clusters, both included.
    seed : int

    Returns
    -------
    dict of str to ndarray of shape (n_samples,)
    """
    highest = min(highest, len(table))
    numbers = np.random.default_rng(seed).integers(min(lowest, highest), highest + 1, N_LABELINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct samples than clusters
        return {
            name_of(position): KMeans(int(number), n_init=1, random_state=100 * seed + position).fit_predict(table)
            for position, number in enumerate(numbers)
        }


@lru_cache(maxsize=1)
def table_of(path: str, name: str) -> NDArray[np.float64]:
    """The standardized columns of all views of a data set side by side, or their principal components.

    Parameters
    ----------
    path : str
        Empty for embedded data sets.
    name : str

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        Missing values are replaced by the mean of the column.
    """
    table = np.hstack([_standardized(array) for array in load_data(path, name).views.arrays])
    if table.shape[1] <= MOST_COLUMNS:
        return table
    n_components = min(MOST_COLUMNS, *table.shape)
    reduced: NDArray[np.float64] = PCA(n_components, svd_solver="randomized", random_state=0).fit_transform(table)
    return reduced


def _standardized(array: Any) -> NDArray[np.float64]:
    dense = np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=np.float64)
    return np.nan_to_num(StandardScaler().fit_transform(dense))
