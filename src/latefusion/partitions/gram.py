"""Base partitions of narrow factors by one Gram matrix of all, in two passes over the rows without a copy of a view.

With Φ_p the factor of view p and Φ = [Φ_1 | … | Φ_m], the similarities Φ_pΦ_pᵀ and their mean ΦΦᵀ/m have the
eigenvectors Φ_p V_p Λ_p^{-1/2} and Φ V Λ^{-1/2}, where V_p, Λ_p and V, Λ belong to the diagonal blocks and to the
whole of the small matrix ΦᵀΦ. The first pass computes that matrix, the second multiplies the rows by the resulting
projections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import device_of, is_device_array, namespace, row_blocks
from latefusion.encoding.coordinates import Unchanged
from latefusion.partitions.factor_stack import DEVICE_BLOCK_ENTRIES, FactorStack, whitened
from latefusion.partitions.mean import partitions_with_mean
from latefusion.partitions.neighborhoods import (
    CLOSENESS_ENTRIES,
    EXACT_COUNTS,
    SampledNeighborhoods,
    count_by_closeness,
    sample_neighborhoods,
)
from latefusion.partitions.partitions import Block, Partitions
from latefusion.partitions.spectra import takes_gram
from latefusion.similarities.factor import Factor
from latefusion.types import Array


def fits_gram(similarities: Sequence[Any], n_clusters: int) -> bool:
    """Whether all views are factors with dense rows, narrow enough for one Gram matrix of all of them together."""
    if not all(isinstance(one, Factor) and one.has_dense_rows for one in similarities):
        return False
    width = sum(one.feature_map.width for one in similarities)
    return is_device_array(similarities[0].view) or takes_gram(width, n_clusters, dense=True)


def gram_partitions(
    factors: Sequence[Factor],
    extensions: Sequence[Any],
    n_clusters: int,
    sizes: Sequence[int] | None = None,
    count_samples: int | None = None,
) -> Partitions:
    """Base partitions of views whose similarities are narrow factors with dense rows.

    Parameters
    ----------
    factors : sequence of Factor
    extensions : sequence of FactorExtension
    n_clusters : int
    sizes : sequence of int, default=None
        Sizes of the neighborhoods to count; no counts when None.
    count_samples : int, default=None
        As in `fit_base_partitions`.

    Returns
    -------
    Partitions
    """
    stack = FactorStack(factors)
    views = [factor.view for factor in factors]
    projections = factor_projections(stack, n_clusters)
    sampled, counts = None, None
    if sizes is not None and count_samples is None and stack.n_samples <= EXACT_COUNTS and not stack.on_device:
        extensions, counts = count_by_closeness(views, extensions, sizes)
    elif sizes is not None:
        extensions, sampled = sample_neighborhoods(views, extensions, sizes, count_samples)
    rows = factor_partitions(stack, projections, sampled, [one.columns for one in extensions])
    *vectors, average = [rows[:, start : start + n_clusters] for start in range(0, int(rows.shape[1]), n_clusters)]
    small = stack.xp.astype(projections, stack.dtype)
    own, shares = zip(*view_projections(small, stack.edges, n_clusters), strict=True)
    blocks = [Block(view, "given", Unchanged(), *one) for view, one in enumerate(zip(extensions, own, strict=True))]
    counts = counts if sampled is None else sampled.results()
    return partitions_with_mean(blocks, vectors, average, shares, counts=counts)


def view_projections(projections: Array, edges: NDArray[np.intp], n_clusters: int) -> Iterator[tuple[Array, Array]]:
    """P_p and N_p of every view, from the matrix that `gram_projections` returns."""
    for view, (start, stop) in enumerate(pairwise(edges.tolist())):
        own = projections[start:stop, :]
        yield own[:, view * n_clusters : (view + 1) * n_clusters], own[:, -n_clusters:]


def factor_projections(stack: FactorStack, n_clusters: int) -> Array:
    """The matrix that maps rows of Φ to rows of all base partitions and, last, of the partition of the mean similarity.

    Parameters
    ----------
    stack : FactorStack
    n_clusters : int

    Returns
    -------
    array of shape (total width, (n_views + 1) * n_clusters)
        In double precision.
    """
    return gram_projections(stack.products(), stack.edges, n_clusters, stack.precision)


def gram_projections(gram: Array, edges: NDArray[np.intp], n_clusters: int, precision: float) -> Array:
    """The same from ΦᵀΦ.

    Parameters
    ----------
    gram : array of shape (total width, total width)
        In double precision.
    edges : ndarray of shape (n_views + 1,)
        First column of every view in Φ, and the number of columns.
    n_clusters : int
    precision : float
        Rounding error of the features.

    Returns
    -------
    array of shape (total width, (n_views + 1) * n_clusters)
    """
    xp, n_views = namespace(gram), len(edges) - 1
    projections = xp.zeros((gram.shape[0], (n_views + 1) * n_clusters), dtype=xp.float64, device=device_of(gram))
    for p in range(n_views):
        own = slice(int(edges[p]), int(edges[p + 1]))
        projections[own, p * n_clusters : (p + 1) * n_clusters] = whitened(gram[own, own], n_clusters, precision)[1]
    # The mean of one view is that view.
    mean = projections[:, :n_clusters] if n_views == 1 else whitened(gram, n_clusters, precision)[1]
    projections[:, n_views * n_clusters :] = mean
    return projections


def factor_partitions(
    stack: FactorStack,
    projections: Array,
    neighborhoods: SampledNeighborhoods | None,
    columns: Sequence[Array] = (),
) -> Array:
    """Rows of all partitions, in one pass that also counts neighbors.

    Parameters
    ----------
    stack : FactorStack
    projections : array of shape (total width, n_columns)
    neighborhoods : SampledNeighborhoods or None
        Filled with the counts of all samples.
    columns : sequence of arrays, default=()
        Features of the samples whose neighborhoods are used, one array per view.

    Returns
    -------
    array of shape (n_samples, n_columns)
    """
    rows_of_all = stack.xp.empty((stack.n_samples, projections.shape[1]), dtype=stack.dtype, device=stack.device)
    small = stack.xp.astype(projections, stack.dtype)
    # The mean of all products is the product of all features, which is cheaper than a sum over views.
    together: Any = None if neighborhoods is None else stack.xp.concat(list(columns), axis=1) / len(columns)

    def closeness(features: Array) -> Iterator[Array]:
        for own, known in zip(stack.split(features), columns, strict=True):
            yield own @ known.T
        yield features @ together.T

    def project(ranges: Sequence[slice]) -> None:
        for rows in ranges:
            features = stack.features(rows)
            rows_of_all[rows, :] = features @ small
            if neighborhoods is not None:
                # Blocks of narrow features have too many rows for their closeness to all columns.
                entries = DEVICE_BLOCK_ENTRIES if stack.on_device else CLOSENESS_ENTRIES
                for part in row_blocks(rows.stop - rows.start, max(1, entries // columns[0].shape[0])):
                    counted = slice(rows.start + part.start, rows.start + part.stop)
                    neighborhoods.count(counted, closeness(features[part, :]), with_mean=True)

    stack.share(project)
    return rows_of_all
