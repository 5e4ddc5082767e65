"""Labels that agree with given partitions, by a weighted mean of adjusted Rand indices.

Let X_p (n x c_p) hold the memberships of partition p, K_p = X_pX_pᵀ its co-membership, and Y the indicators of labels.
On the n_p samples that are assigned in p, the adjusted Rand index of the two is

    a_p = (S_p - E_p) / ((A_p + B_p)/2 - E_p),   S_p = ‖X_pᵀY‖²,  A_p = ‖K_p‖²,  B_p = ‖YYᵀ‖²,  E_p = B_p · mean(K_p).

(A sample counts as a pair with itself, which changes a_p by O(1/n).) All of it is a function of the tables X_pᵀY. The
objective Σ_p w_p a_p is raised by moving all samples at once to the cluster of the largest derivative, as long as it
increases. The derivative is a linear function of a sample's memberships,

    ½ ∂a_p/∂Y = [X_p X_pᵀY - (m_p + a_p (½ - m_p)) 1 sizesᵀ] / ((A_p + B_p)/2 - E_p),   m_p = mean(K_p),

so that the last step is also a rule for new samples: the sum over partitions of one row of a small table each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]

MAX_ITER = 50


@dataclass(frozen=True)
class ComparedPartition:
    """One partition, reduced to what a comparison with labels needs.

    Attributes
    ----------
    factor : ndarray of shape (n_columns, c_p)
        X_p is the columns of the partition times this.
    assigned : ndarray of shape (n_columns,)
        The columns times this are one for assigned samples.
    squares : float
        A_p.
    density : float
        m_p.
    weight : float
        w_p.
    """

    factor: FloatArray
    assigned: FloatArray
    squares: float
    density: float
    weight: float

    @classmethod
    def of(cls, factor: FloatArray, assigned: FloatArray, products: FloatArray, weight: float) -> ComparedPartition:
        """From the inner products of the columns, shape (n_columns, n_columns)."""
        sums = products @ assigned
        squares = np.sum((factor.T @ products @ factor) ** 2)
        density = np.sum((factor.T @ sums) ** 2) / (assigned @ sums) ** 2
        return cls(factor, assigned, float(squares), float(density), weight)

    def agreement(self, table: FloatArray) -> float:
        """a_p, given the columns of the partition times Y, shape (n_columns, n_clusters)."""
        return self._compare(table)[0]

    def votes(self, table: FloatArray) -> FloatArray:
        """Table of shape (n_columns, n_clusters); the columns times it are half the derivative of w_p a_p."""
        agreement, largest = self._compare(table)
        inner, sizes = self.factor.T @ table, self.assigned @ table
        cost = (self.density + agreement * (0.5 - self.density)) * sizes
        votes: FloatArray = self.weight / largest * (self.factor @ inner - np.outer(self.assigned, cost))
        return votes

    def closeness(self, table: FloatArray) -> FloatArray:
        """The same for k-means: the columns times it decrease with the squared distance to the means of clusters."""
        sizes = self.assigned @ table
        means = (self.factor.T @ table) / np.where(sizes > 0, sizes, 1.0)
        return self.weight * (self.factor @ means - np.outer(self.assigned, np.sum(means**2, axis=0) / 2))

    def _compare(self, table: FloatArray) -> tuple[float, float]:
        """a_p and its denominator."""
        pairs = np.sum((self.assigned @ table) ** 2)
        expected = self.density * pairs
        largest = (self.squares + pairs) / 2 - expected
        return float((np.sum((self.factor.T @ table) ** 2) - expected) / largest), float(largest)


class Refined(NamedTuple):
    """Labels by votes. Of two, the one with more clusters, then with the larger score, is greater.

    Attributes
    ----------
    n_found : int
        Number of clusters that have samples.
    score : float
        Σ_p w_p a_p.
    votes : ndarray of shape (n_columns, n_clusters)
        Every sample has the label of the largest entry of its columns times this.
    """

    n_found: int
    score: float
    votes: FloatArray


def refine_labels(
    columns: csr_array, partitions: Sequence[ComparedPartition], labels: NDArray[np.intp], n_clusters: int
) -> Refined:
    """Move samples between clusters while the mean agreement with the partitions increases and no cluster vanishes.

    Parameters
    ----------
    columns : csr_array of shape (n_samples, n_columns)
        Those of all partitions, side by side.
    partitions : sequence of ComparedPartition
    labels : ndarray of shape (n_samples,)
        Starting point.
    n_clusters : int

    Returns
    -------
    Refined
        At least one step away from the starting point, so that all labels follow from votes. If that step leaves a
        cluster empty, it is replaced by one of k-means.
    """
    bounds = np.cumsum([len(one.factor) for one in partitions])[:-1]

    def tables(labels: NDArray[np.intp]) -> list[FloatArray]:
        return np.split(columns.T @ np.eye(n_clusters)[labels], bounds)

    def step(votes: FloatArray) -> tuple[Refined, list[FloatArray]]:
        labels = np.argmax(columns @ votes, axis=1)
        found = tables(labels)
        score = sum(one.weight * one.agreement(own) for one, own in zip(partitions, found, strict=True))
        return Refined(len(np.unique(labels)), score, votes), found

    def voted(found: list[FloatArray]) -> FloatArray:
        return np.concatenate([one.votes(own) for one, own in zip(partitions, found, strict=True)])

    start = tables(labels)
    best, found = step(voted(start))
    if best.n_found < n_clusters:
        means = np.concatenate([one.closeness(own) for one, own in zip(partitions, start, strict=True)])
        best, found = max((best, found), step(means), key=lambda one: one[0][:2])
    for _ in range(MAX_ITER):
        moved, found = step(voted(found))
        if moved[:2] <= best[:2]:
            break
        best = moved
    return best
