"""Weights of adaptive neighbours, and connected components of a graph.

The q nearest neighbours of a sample get the weights that solve

    min  sum_j d_ij s_ij + γ_i s_ij²,   s_i on the probability simplex,

with the largest γ_i for which exactly q weights are positive. With squared distances d_1 <= d_2 <= ... to the other
samples,

    s_j = (d_{q+1} - d_j) / (q d_{q+1} - d_1 - ... - d_q)   for the q nearest, zero for all others.

The weights have no unit: they do not change when the view is multiplied by a number.

References
----------
Nie, Wang, Huang: Clustering and projected clustering with adaptive neighbors. KDD, 2014.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import namespace, smallest_values
from latefusion.types import Array


class Neighbors(NamedTuple):
    """The nearest samples of every sample, nearest first; a sample is not its own neighbour.

    Attributes
    ----------
    indices : ndarray of int of shape (n_samples, n_neighbors + 1)
        The last column is the first sample that is *not* a neighbour: its distance sets the scale of the weights.
    squared_distances : ndarray of shape (n_samples, n_neighbors + 1)
    """

    indices: NDArray[np.intp]
    squared_distances: NDArray[Any]

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours of a sample, q."""
        return int(self.indices.shape[1]) - 1


def adaptive_weights(neighbors: Neighbors) -> NDArray[Any]:
    """Weights of the neighbours, shape (n_samples, n_neighbors + 1): rows sum to one, the last column is zero.

    If the q + 1 nearest samples are equally far away, all neighbours get the same weight.
    """
    gaps = neighbors.squared_distances[:, -1:] - neighbors.squared_distances
    totals = gaps.sum(axis=1, keepdims=True)
    even = np.where(np.arange(gaps.shape[1]) < neighbors.n_neighbors, 1.0 / neighbors.n_neighbors, 0.0)
    weights: NDArray[Any] = np.where(totals > 0, gaps / np.where(totals > 0, totals, 1.0), even)
    return weights


def dense_adaptive_weights(squares: Array, n_neighbors: int) -> Array:
    """The same for all candidates, from squared distances on a device; zero for those that are not neighbours.

    Parameters
    ----------
    squares : array of shape (n_samples, n_candidates)
        Squared distances, less a number per row.
    n_neighbors : int
        Less than the number of candidates.

    Returns
    -------
    array of shape (n_samples, n_candidates)
        Rows sum to one. If the q + 1 nearest candidates are equally far away, they get the same weight.
    """
    xp = namespace(squares)
    nearest, rounding = smallest_values(squares, n_neighbors + 1), xp.finfo(squares.dtype)
    limits = nearest[:, -1:]
    # Equal distances get a limit that is just above them.
    above = limits + 4 * float(rounding.eps) * xp.abs(limits) + float(rounding.smallest_normal)
    weights = xp.where(nearest[:, :1] < limits, limits, above) - squares
    weights = xp.clip(weights, min=0.0)
    weights /= xp.sum(weights, axis=1, keepdims=True)
    return weights


def without_zeros(graph: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Copy a graph so that no zero is stored."""
    copy = scipy.sparse.csr_array(graph, copy=True)
    copy.eliminate_zeros()
    return copy


def connected_components(graph: scipy.sparse.csr_array) -> tuple[int, NDArray[np.intp]]:
    """Count connected components, edges taken without direction, and number the component of every sample.

    Stored zeros do not count as edges here; in SciPy they do.
    """
    count, labels = scipy.sparse.csgraph.connected_components(without_zeros(graph), directed=False)
    return int(count), labels.astype(np.intp)
