"""Solutions for many values of λ, which share base partitions, so that they cost about as much as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import namespace


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The solution for one λ. The consensus and the labels are computed on first access.

    Attributes
    ----------
    regularization : float
    weights : ndarray of shape (n_views,)
    objective : ndarray of shape (n_iter,)
    n_iter : int
    converged : bool
    mix, assign : callable
        Compute the consensus, and labels from it.
    """

    regularization: float
    weights: NDArray[Any]
    objective: NDArray[Any]
    n_iter: int
    converged: bool
    mix: Callable[[], NDArray[Any]]
    assign: Callable[[NDArray[Any]], NDArray[np.intp]]

    @cached_property
    def consensus(self) -> NDArray[Any]:
        """Consensus partition, shape (n_samples, n_clusters)."""
        return self.mix()

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """Labels, shape (n_samples,)."""
        return self.assign(self.consensus)

    def __repr__(self) -> str:
        last = self.objective[-1]
        return f"PathPoint(regularization={self.regularization:g}, objective={last:.6g}, n_iter={self.n_iter})"


class RegularizationPath(Sequence[PathPoint]):
    """Solutions for a sequence of λ, in the given order.

    Indexing returns a `PathPoint`; the attributes contain the values of all points.

    Attributes
    ----------
    regularizations : ndarray of shape (n_points,)
    weights : ndarray of shape (n_points, n_views)
    objectives : ndarray of shape (n_points,)
        Final objectives.
    labels : ndarray of shape (n_points, n_samples)
    """

    def __init__(self, points: Sequence[PathPoint]) -> None:
        self._points = tuple(points)
        self.regularizations = np.array([point.regularization for point in points])
        self.weights = np.array([point.weights for point in points])
        self.objectives = np.array([point.objective[-1] for point in points])

    @property
    def labels(self) -> NDArray[np.intp]:
        """Labels for every λ, shape (n_points, n_samples)."""
        found = [point.labels for point in self._points]
        return namespace(found[0]).stack(found)

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return RegularizationPath(self._points[index])
        return self._points[index]

    def __repr__(self) -> str:
        low, high = self.regularizations.min(), self.regularizations.max()
        return f"RegularizationPath({len(self)} points, regularization from {low:g} to {high:g})"
