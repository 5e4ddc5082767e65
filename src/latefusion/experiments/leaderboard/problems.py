"""A data set of a board as it is given to the methods.

Methods get the views as they are in the data set: no column is scaled or selected, and kernels are not standardized.
What a method does with its input is part of the method. Classes give the number of clusters and the scores, nothing
else. A negative class means that the class of the sample is unknown: the sample is clustered, but not scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets import catalogue, load_views, make_views
from latefusion.datasets.missing_rows import draw_mask, without_rows
from latefusion.experiments.leaderboard.results import SetEntry
from latefusion.types import MultiViewDataset, Views

# Seeds of removed rows differ from the seeds of the methods.
FIRST_MASK_SEED = 1000


def _planted_large() -> MultiViewDataset:
    return make_views(100_000, 10, n_views=3, noise=1.5, random_state=0)


SYNTHETIC: dict[str, Callable[[], MultiViewDataset]] = {"planted_100000": _planted_large}


class Problem(NamedTuple):
    """What is given to a method, and what its labels are compared with.

    Attributes
    ----------
    views : Views
    target : ndarray of shape (n_samples,)
        Classes; -1 if unknown.
    """

    views: Views
    target: NDArray[np.intp]


@dataclass(frozen=True)
class BoardSet:
    """A data set on a board, with all that is needed to load it in another process.

    Attributes
    ----------
    entry : SetEntry
    path : str
        Empty for embedded and synthetic sets.
    origin : str
        Name of the data set from which it is made.
    checksum : str
        SHA-256 of the file or arrays, and how rows were removed.
    rate : float
        Probability of removed rows, drawn for every seed; 0 for none.
    mask : str
        Name of the mask in the file; empty for none.
    """

    entry: SetEntry
    path: str
    origin: str
    checksum: str
    rate: float = 0.0
    mask: str = ""

    @property
    def name(self) -> str:
        """Name on its board."""
        return self.entry.name

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.entry.n_samples

    def problem(self, seed: int) -> Problem:
        """Views and classes; rows are removed by the seed where they are drawn.

        Parameters
        ----------
        seed : int

        Returns
        -------
        Problem
        """
        data = load_data(self.path, self.origin)
        views = data.views
        if self.mask:
            with np.load(self.path, allow_pickle=False) as archive:
                views = without_rows(views, archive[self.mask])
        elif self.rate:
            views = without_rows(views, mask_of_seed(len(views), views.n_views, self.rate, seed))
        return Problem(views, class_codes(data.target))


def mask_of_seed(n_samples: int, n_views: int, rate: float, seed: int) -> NDArray[np.bool_]:
    """The mask of observed rows for a seed of the methods.

    Parameters
    ----------
    n_samples, n_views : int
    rate : float
    seed : int

    Returns
    -------
    ndarray of bool of shape (n_samples, n_views)
    """
    return draw_mask(n_samples, n_views, rate, FIRST_MASK_SEED + seed)


def class_codes(target: Any) -> NDArray[np.intp]:
    """Classes as numbers from 0; -1 for an unknown class, which is a negative number.

    Parameters
    ----------
    target : array of shape (n_samples,)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    target = np.asarray(target)
    known = target >= 0 if target.dtype.kind in "if" else np.ones(len(target), dtype=bool)
    codes = np.full(len(target), -1, dtype=np.intp)
    codes[known] = np.unique(target[known], return_inverse=True)[1]
    return codes


@lru_cache(maxsize=1)
def load_data(path: str, name: str) -> MultiViewDataset:
    """A data set; the last one is cached.

    Parameters
    ----------
    path : str
        Empty for embedded and synthetic data sets.
    name : str

    Returns
    -------
    MultiViewDataset
    """
    return load_views(path) if path else {**catalogue.EMBEDDED, **SYNTHETIC}[name]()
