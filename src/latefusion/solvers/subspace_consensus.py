"""Late fusion of subspaces, which represent given clusterings, in the small space that they span.

Let O_p (n x r_p, orthonormal columns) be a basis of the subspace of partition p, for labels the normalized and centered
cluster indicators. The consensus solves

    max  Tr(Fᵀ Σ_p β_p f_p O_p W_p) + λ Tr(FᵀM)   over FᵀF = I_d, W_p a (partial) isometry r_p x d, ‖β‖₂ = 1,

which is global alignment whose base partitions H_p = O_p W_p are free within their subspaces: for r_p > d all
eigenvalues of O_pO_pᵀ are one, and no d eigenvectors lead. M holds the d leading eigenvectors of Σ_p f_p² O_pO_pᵀ; a
factor f_p = √w lets a partition count w times, so c equal partitions with f_p = 1/√c count as one.

Labels are assigned to the rows of U = Σ_p β_p f_p O_p W_p + λM, of which F is the orthonormal factor. The norm of a
direction in U grows with the number of partitions that share it, so that a superfluous direction has little effect. In
F all directions have the same norm.

All inner products of the bases come from contingency tables, so nothing here has the size of the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import array_api_compat.numpy as xp
import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import root_of_products, rounding_threshold
from latefusion.solvers.late_fusion_alignment import solve_alignment
from latefusion.types import SolverResult

FloatArray = NDArray[np.floating]

# Smallest agreement of a subspace relative to the largest one, to avoid a weight of zero over zero.
LEAST_TRUST = 1e-3


@dataclass(frozen=True)
class Subspaces:
    """Several subspaces by the inner products of their bases.

    Attributes
    ----------
    root : ndarray of shape (rank, sum of r_p)
        A matrix with the inner products of [O_1 | … | O_m].
    columns : list of slice
        Those of every subspace.
    factors : ndarray of shape (m,)
        f_p.
    """

    root: FloatArray
    columns: list[slice]
    factors: FloatArray

    @classmethod
    def of(cls, bases: Sequence[FloatArray], products: FloatArray) -> Subspaces:
        """Subspaces that are spanned by known columns.

        Parameters
        ----------
        bases : sequence of ndarray of shape (c_p, r_p)
            O_p is the columns of partition p times this.
        products : ndarray of shape (sum of c_p, sum of c_p)
            Inner products of the columns of all partitions: for labels their contingency tables.

        Returns
        -------
        Subspaces
            With all factors one.
        """
        rows, columns = _slices([len(one) for one in bases]), _slices([one.shape[1] for one in bases])
        inner = np.zeros((columns[-1].stop, columns[-1].stop))
        for first, one in zip(zip(rows, columns, strict=True), bases, strict=True):
            half = one.T @ products[first[0]]
            for second, other in zip(zip(rows, columns, strict=True), bases, strict=True):
                inner[first[1], second[1]] = half[:, second[0]] @ other
        return cls(root_of_products((inner + inner.T) / 2), columns, np.ones(len(bases)))

    @property
    def widths(self) -> NDArray[np.intp]:
        """Dimension r_p of every subspace."""
        return np.array([own.stop - own.start for own in self.columns])

    @cached_property
    def squared_cosines(self) -> NDArray[np.float64]:
        """‖O_pᵀO_q‖², the sum of the squared cosines between two subspaces, for all pairs."""
        products = (self.root.T @ self.root) ** 2
        starts = [own.start for own in self.columns]
        sums: NDArray[np.float64] = np.add.reduceat(np.add.reduceat(products, starts, axis=0), starts, axis=1)
        return sums

    def overlap(self) -> NDArray[np.float64]:
        """Squared cosines over the larger dimension: 1 for the same subspace, 0 for orthogonal ones."""
        overlap: NDArray[np.float64] = self.squared_cosines / np.maximum.outer(self.widths, self.widths)
        return overlap

    def trust(self, same: NDArray[np.float64], n_samples: int) -> NDArray[np.float64]:
        """Agreement of every subspace with those that are not equal to it, beyond chance, relative to the largest.

        The agreement of two is the mean squared cosine over the smaller dimension, so that a finer clustering agrees
        with a coarser one that it refines. Of random subspaces it is the larger dimension over the number of samples.

        Parameters
        ----------
        same : ndarray of shape (m, m)
            How equal two subspaces are, from 0 to 1; equal ones do not count as evidence for each other.
        n_samples : int

        Returns
        -------
        ndarray of shape (m,)
            One for all if there are no others, or no agreement at all.
        """
        smaller = np.minimum.outer(self.widths, self.widths)
        chance = np.maximum.outer(self.widths, self.widths) / n_samples
        beyond = np.maximum(self.squared_cosines / smaller - chance, 0.0)
        witnesses = (1.0 - same) / same.sum(axis=1)
        n_witnesses = witnesses.sum(axis=1)
        trust = np.sum(witnesses * beyond, axis=1) / np.where(n_witnesses > 0, n_witnesses, 1.0)
        if not n_witnesses.all() or trust.max() < LEAST_TRUST:
            return np.ones(len(self.columns))
        relative: NDArray[np.float64] = np.maximum(trust / trust.max(), LEAST_TRUST)
        return relative

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Eigenvalues of the mean projection Σ f_p² O_pO_pᵀ / Σ f_p², descending: 1 for what all have in common."""
        values: NDArray[np.float64] = self._mean[0] / np.sum(self.factors**2)
        return values

    @cached_property
    def _mean(self) -> tuple[FloatArray, FloatArray]:
        scaled = self._scaled()
        values, vectors = np.linalg.eigh(scaled @ scaled.T)
        return np.maximum(values[::-1], 0.0), vectors[:, ::-1]

    def _scaled(self) -> FloatArray:
        return self.root * np.repeat(self.factors, self.widths)

    def fuse(
        self, n_shared_components: int, *, regularization: float, **options: Any
    ) -> tuple[list[FloatArray], SolverResult]:
        """The consensus in a number of directions.

        Parameters
        ----------
        n_shared_components : int
            The number d of columns of F and U.
        regularization : float
            λ.
        **options
            Of `solve_alignment`: ``max_iter``, ``tol``.

        Returns
        -------
        coefficients : list of ndarray of shape (r_p, n_shared_components)
            U is Σ_p O_p times these.
        result : SolverResult
        """
        values, vectors = self._mean
        smallest = rounding_threshold(np.finfo(values.dtype).eps, values[0])
        n_found = int(np.count_nonzero(values[:n_shared_components] > smallest))
        average = np.zeros((len(self.root), n_shared_components))
        average[:, :n_found] = vectors[:, :n_found]
        scaled = self._scaled()
        bases = [scaled[:, own] for own in self.columns]
        result = solve_alignment(bases, average, regularization=regularization, **options, xp=xp)
        # M = Σ_p f_p² O_p (O_pᵀ M) Λ^{-1}, since M are the eigenvectors of Σ_p f_p² O_pO_pᵀ.
        mean = scaled.T @ average
        mean[:, :n_found] /= values[:n_found]
        coefficients = [
            factor * (weight * np.asarray(rotation) + regularization * mean[own])
            for factor, weight, rotation, own in zip(
                self.factors, result.weights, result.rotations, self.columns, strict=True
            )
        ]
        return coefficients, result


def _slices(lengths: Sequence[int]) -> list[slice]:
    return [slice(int(start), int(stop)) for start, stop in pairwise(np.cumsum([0, *lengths]))]
