"""Late fusion alignment: LF-MVC-GAM and LF-MVC-LAM.

The problem (Eq. 8 of the paper; "global alignment")::

    max  Tr(Fᵀ Σ_p β_p H_p W_p) + λ Tr(Fᵀ M)
    over F (n x k, FᵀF = I), W_p (k x k, W_pᵀ W_p = I), β (m, ‖β‖₂ = 1, β ≥ 0)

Local alignment (Eq. 9) has the same form with H_p replaced by D_p H_p / n and M by D_0 M / n, where the diagonal
matrix D_p holds how often every sample is a neighbor of the others in view p; see `weigh_partitions`.

=================  ======  ============================================================
here               paper   meaning
=================  ======  ============================================================
``consensus``      F       consensus partition, n_samples x n_clusters
``partitions``     H_p     base partitions, one per view, n_samples x n_clusters
``average``        M       partition of the mean kernel, n_samples x n_clusters
``rotations``      W_p     rotation of every base partition, n_clusters x n_clusters
``weights``        β       weight of every view
``alignments``     δ_p     Tr(Fᵀ H_p W_p), how well view p agrees with the consensus
``regularization`` λ       pull of the consensus towards ``average``
=================  ======  ============================================================

Cost. One iteration costs O(m n k²). The iterations depend on the samples only through inner products of columns, so
with Z = [H_1 | … | H_m | M] = QR they may run on the column blocks of the small matrix R instead, O(m² k³) for any n;
the consensus is then computed from the partitions by `mix_partitions`. Every λ reuses the same R.

Wang, Liu, Zhu: Late Fusion Multi-view Clustering via Global and Local Alignment Maximization.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from latefusion.arrays import (
    Polar,
    device_of,
    is_device_array,
    isometries,
    map_rows,
    namespace,
    polar,
    row_blocks,
    share_blocks,
)
from latefusion.types import Array, SolverResult

# The authors' rule compares objectives only from the third iteration on.
MIN_ITER = 3
# Rows whose inner products are summed at a time.
COMPRESSION_ROWS = 2**12
# The same on a device, which needs larger blocks.
DEVICE_COMPRESSION_ROWS = 2**18


class AlignmentState(NamedTuple):
    """Argument of the callback after every iteration."""

    consensus: Array
    rotations: list[Array]
    weights: Array
    objective: float


def solve_alignment(
    partitions: Sequence[Array],
    average: Array,
    *,
    regularization: float,
    init: str = "align",
    max_iter: int = 100,
    tol: float = 1e-6,
    accumulate: bool = False,
    callback: Callable[[AlignmentState], None] | None = None,
    xp: Any,
) -> SolverResult:
    """Maximize the alignment of one consensus partition with rotated base partitions.

    Parameters
    ----------
    partitions : sequence of arrays of shape (n_samples, n_clusters)
        Base partitions H_p, or their compressed form. With ``init="align"`` they may have other numbers of columns: a
        view of r directions has a W_p of shape r x k, which also selects k of more than k directions.
    average : array of shape (n_samples, n_clusters)
        Partition M of the mean kernel, or its compressed form.
    regularization : float
        λ.
    init : {"align", "identity"}, default="align"
        Start of the rotations: "identity" is the paper's, and depends on the arbitrary signs of eigenvectors; "align"
        rotates every base partition towards ``average`` first, W_p = polar(H_pᵀ M), which depends on subspaces only.
    max_iter : int, default=100
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    accumulate : bool, default=False
        Reproduce the loop of the authors' code: it never clears the sum Σ_p β_p H_p W_p, so that every iteration adds
        to those before it, and its weights start at 1/m. The objective is then not monotone and ends lower. Use this
        only to compare with results of that code.
    callback : callable, default=None
        Called with an `AlignmentState` after every iteration.
    xp : module
        Array namespace of all arrays.

    Returns
    -------
    SolverResult
        ``mixing`` holds the matrices that made ``consensus`` from the partitions. Rotations and weights were updated
        once more after it. Both are lists where the partitions differ in their numbers of columns.
    """
    n_views, n_clusters = len(partitions), average.shape[1]
    stack = _Stack(partitions, xp)
    identity = xp.eye(n_clusters, dtype=average.dtype)
    rotations = [identity] * n_views if init == "identity" else stack.rotations(average)[0]
    weights = xp.full((n_views,), 1 / n_views if accumulate else n_views**-0.5, dtype=average.dtype)
    blocks = [xp.zeros_like(identity)] * n_views
    objectives: list[float] = []
    converged = False
    while len(objectives) < max_iter and not converged:
        added = [weights[p] * rotation for p, rotation in enumerate(rotations)]
        blocks = [old + new for old, new in zip(blocks, added, strict=True)] if accumulate else added
        fused = stack.times(blocks) + regularization * average  # U of Eq. (10): Σ_p H_p (β_p W_p) + λ M
        factors = polar(fused, xp=xp)  # Theorem 2: F = S Vᵀ from the SVD of U
        rotations, alignments = stack.rotations(factors.isometry)
        weights = _update_weights(alignments, weights, xp)
        objectives.append(alignment_objective(factors.isometry, alignments, average, regularization, xp=xp))
        converged = _has_converged(objectives, tol)
        if callback is not None:
            callback(AlignmentState(factors.isometry, rotations, weights, objectives[-1]))
    return SolverResult(
        consensus=factors.isometry,
        weights=weights,
        objective=objectives,
        n_iter=len(objectives),
        converged=converged,
        rotations=_stack(rotations, xp),
        mixing=_mixing(blocks, regularization, factors, xp),
    )


class _Stack:
    """All base partitions side by side, [H_1 | … | H_m], so that a step takes one product and not one per view."""

    def __init__(self, partitions: Sequence[Array], xp: Any) -> None:
        self.xp = xp
        self.columns = xp.concat(list(partitions), axis=1)
        edges = [0]
        for partition in partitions:
            edges.append(edges[-1] + partition.shape[1])
        self.parts = [slice(*ends) for ends in pairwise(edges)]

    def times(self, blocks: Sequence[Array]) -> Array:
        """Σ_p H_p B_p."""
        return self.columns @ self.xp.concat(list(blocks), axis=0)

    def rotations(self, consensus: Array) -> tuple[list[Array], Array]:
        """Eq. (13): W_p = S Gᵀ from the SVD of H_pᵀ F; its nuclear norm is δ_p = Tr(Fᵀ H_p W_p) ≥ 0."""
        products = self.xp.matrix_transpose(self.columns) @ consensus
        rotations, alignments = isometries([products[part, :] for part in self.parts], xp=self.xp)
        return rotations, self.xp.asarray(alignments, dtype=consensus.dtype)


def _update_weights(alignments: Array, previous: Array, xp: Any) -> Array:
    # Eq. (15): β = δ / ‖δ‖₂. If no view agrees with the consensus (δ = 0), every β is optimal: keep the last.
    norm = xp.linalg.vector_norm(alignments)
    return alignments / norm if float(norm) > 0 else previous


def alignment_objective(
    consensus: Array, alignments: Array, average: Array, regularization: float, *, xp: Any
) -> float:
    """Value of the objective at the best weights, ‖δ‖₂ + λ Tr(Fᵀ M).

    Parameters
    ----------
    consensus : array of shape (n_samples, n_clusters)
    alignments : array of shape (n_views,)
        δ_p = Tr(Fᵀ H_p W_p).
    average : array of shape (n_samples, n_clusters)
    regularization : float
    xp : module

    Returns
    -------
    float
    """
    return float(xp.linalg.vector_norm(alignments)) + regularization * float(xp.sum(consensus * average))


def _has_converged(objectives: list[float], tol: float) -> bool:
    if len(objectives) < MIN_ITER:
        return False
    previous, last = objectives[-2:]
    return abs(last - previous) <= tol * abs(previous)


def _mixing(blocks: Sequence[Array], regularization: float, factors: Polar, xp: Any) -> Array:
    # F = U (UᵀU)^{-1/2} with U = Σ_p H_p (β_p W_p) + λ M, hence T_p = β_p W_p (UᵀU)^{-1/2} and T_m = λ (UᵀU)^{-1/2}.
    mixed = [block @ factors.inverse_root for block in blocks]
    return _stack([*mixed, regularization * factors.inverse_root], xp)


def _stack(matrices: list[Array], xp: Any) -> Any:
    return xp.stack(matrices) if len({one.shape for one in matrices}) == 1 else matrices


def mix_partitions(partitions: Sequence[Array], average: Array, mixing: Array) -> Array:
    """Consensus rows from the rows of all partitions, Σ_p H_p T_p + M T_m; for training and new samples alike.

    Parameters
    ----------
    partitions : sequence of arrays of shape (n_samples, n_clusters)
    average : array of shape (n_samples, n_clusters)
    mixing : array of shape (n_views + 1, n_clusters, n_clusters)

    Returns
    -------
    array of shape (n_samples, n_clusters)
    """
    mixing = namespace(average).asarray(mixing, dtype=average.dtype, device=device_of(average))

    def mix(average: Array, *partitions: Array) -> Array:
        consensus = average @ mixing[-1, ...]
        for p, partition in enumerate(partitions):
            consensus = consensus + partition @ mixing[p, ...]
        return consensus

    return map_rows(mix, average, *partitions)


def compress_partitions(partitions: Sequence[Array], average: Array, *, xp: Any) -> tuple[list[Array], Array]:
    """Small matrices with the same inner products as the partitions: the column blocks of R in [H_1 | … | M]ᵀ[…] = RᵀR.

    A solver run on them takes the same steps as on the partitions. R comes from the eigenvectors of the small matrix of
    inner products, which is summed in double precision block by block. Directions that are rounding error are removed,
    so a repeated view causes no problem. If there are not more samples than columns, the partitions are returned
    unchanged.

    Parameters
    ----------
    partitions : sequence of arrays of shape (n_samples, n_clusters)
    average : array of shape (n_samples, n_clusters)
    xp : module

    Returns
    -------
    partitions : list of arrays of shape (rank, n_clusters)
        The rank is at most (n_views + 1) * n_clusters.
    average : array of shape (rank, n_clusters)
    """
    n_samples, n_clusters = average.shape
    width = (len(partitions) + 1) * n_clusters
    if n_samples <= width:
        return list(partitions), average

    def products(ranges: Sequence[slice]) -> Array:
        total = xp.zeros((width, width), dtype=xp.float64, device=device_of(average))
        for rows in ranges:
            together = xp.astype(xp.concat([block[rows, :] for block in [*partitions, average]], axis=1), xp.float64)
            total += xp.matrix_transpose(together) @ together
        return total

    on_device = is_device_array(average)
    blocks = row_blocks(n_samples, DEVICE_COMPRESSION_ROWS if on_device else COMPRESSION_ROWS)
    return compress_products(sum(share_blocks(products, blocks, on_device=on_device)), n_clusters, xp=xp)


def compress_products(products: Array, n_clusters: int, *, xp: Any) -> tuple[list[Array], Array]:
    """The same from the inner products of all columns.

    Parameters
    ----------
    products : array of shape (width, width)
        [H_1 | … | M]ᵀ[H_1 | … | M] in double precision.
    n_clusters : int
    xp : module

    Returns
    -------
    partitions : list of arrays of shape (rank, n_clusters)
    average : array of shape (rank, n_clusters)
    """
    width = products.shape[0]
    values, vectors = xp.linalg.eigh(products)
    rank = int(xp.sum(xp.astype(values > xp.finfo(xp.float64).eps * width * values[-1], xp.int64)))
    small = xp.sqrt(values[width - rank :])[:, None] * xp.matrix_transpose(vectors[:, width - rank :])
    columns = [small[:, start : start + n_clusters] for start in range(0, width, n_clusters)]
    return columns[:-1], columns[-1]


def weigh_partitions(
    partitions: Sequence[Array], average: Array, counts: Sequence[Array], n_samples: int
) -> tuple[list[Array], Array]:
    """Partitions of local alignment: row j multiplied by its neighbor count over the number of training samples.

    Parameters
    ----------
    partitions : sequence of arrays of shape (n_rows, n_clusters)
    average : array of shape (n_rows, n_clusters)
    counts : sequence of arrays of shape (n_rows,)
        Neighbor counts c_p per view, and last those of the mean kernel.
    n_samples : int
        Number of training samples.

    Returns
    -------
    partitions : list of arrays of shape (n_rows, n_clusters)
        D_p H_p / n. The factor 1/n is that of the authors' code; it only scales the objective.
    average : array of shape (n_rows, n_clusters)
        D_0 M / n. The paper uses local kernel k-means here; the authors' code and this one use the global M.
    """
    weighed = [
        partition * (count / n_samples)[:, None]
        for partition, count in zip([*partitions, average], counts, strict=True)
    ]
    return weighed[:-1], weighed[-1]
