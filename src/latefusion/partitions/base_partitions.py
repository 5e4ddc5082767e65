"""Base partitions of all views and of their mean similarity, with their extension to new samples.

With S_p the similarity of view p (a standardized kernel or a normalized graph), the base partition H_p holds its k
leading eigenvectors and M those of the mean of all S_p. For a new sample with similarities s to the training samples
the same eigenvectors extend as h = sᵀ V Λ^{-1}, which returns the training row for a training sample.

If the similarity of a view has fewer than k positive eigenvalues, the other columns of H_p are zero. An eigensolver
would complete them from the null space. Such directions are arbitrary, differ between machines, and cannot be extended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from joblib import Parallel, delayed
from numpy.typing import NDArray

from latefusion.arrays import is_device_array, item_bytes, require_memory, row_blocks
from latefusion.encoding.coordinates import SideBySide, Unchanged
from latefusion.partitions.fitting import impute_partitions
from latefusion.partitions.gram import fits_gram, gram_partitions
from latefusion.partitions.imputation import Fill
from latefusion.partitions.mean import add_to_mean, mean_partition, partitions_with_mean, scatter_similarity
from latefusion.partitions.neighborhoods import count_by_closeness, count_neighbors, sizes_within
from latefusion.partitions.partitions import BLOCK_ENTRIES, Block, Mean, Partitions
from latefusion.partitions.sources import join_coordinates
from latefusion.partitions.spectra import Spectrum, feature_matrix, leading_eigenpairs, leading_projection
from latefusion.progress import report_progress
from latefusion.similarities.extension import Similarity
from latefusion.similarities.factor import Factor
from latefusion.similarities.given import GivenMap, nearest_subspace
from latefusion.similarities.kernel import PrecomputedSimilarity
from latefusion.types import Array

Mask = NDArray[np.bool_]


def fit_base_partitions(
    views: Sequence[Array],
    similarities: Sequence[Similarity],
    n_clusters: int,
    *,
    mask: Mask | None = None,
    missing: str = "zero",
    reference: Similarity | None = None,
    n_neighbors: int | Sequence[int] | None = None,
    count_samples: int | None = None,
    known: Partitions | None = None,
    n_jobs: int | None = None,
) -> Partitions:
    """Base partitions of all views and of their mean similarity.

    Parameters
    ----------
    views : sequence of arrays
        Rows of missing views are not read.
    similarities : sequence of Similarity
        One per view.
    n_clusters : int
        Number of columns of every partition.
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Which samples have which views; all by default.
    missing : {"zero", "impute"}, default="zero"
        Whether rows of missing views, of training samples and of new samples, stay zero or are imputed.
    reference : Similarity, default=None
        A similarity of all views side by side, which M is taken from instead of the mean similarity. Samples must have
        all views.
    n_neighbors : int or tuple of int, default=None
        Size of the neighborhoods to count for local alignment; no counts when None. It is reduced in proportion to the
        number of samples that have a view. For several sizes every entry of ``counts`` is a list with one
        `NeighborCounts` per size.
    count_samples : int, default=None
        Number of neighborhoods used for the counts if no view is a dense kernel; None uses all of them up to 5000
        samples and 512 beyond.
    known : Partitions, default=None
        What this function returned for the first of the views with the same options. Eigenvectors and neighbor counts
        of kernels and graphs are taken from it if no view is missing. Their similarities are computed again for the
        mean, and the small eigenproblems of factors are solved again with that of the mean.
    n_jobs : int, default=None
        Number of views that are processed at the same time (threads). Each needs memory for its similarity; a dense
        kernel is one n x n array.

    Returns
    -------
    Partitions

    Notes
    -----
    Narrow factors with dense rows take two passes over the views, see `gram_partitions`. Other factors, and graphs, are
    solved by products with vectors, see `mean_partition`. An n x n array is formed only if a view is a dense kernel;
    then the other similarities are formed as well, for the mean.
    """
    sizes = n_neighbors if n_neighbors is None or isinstance(n_neighbors, Sequence) else (n_neighbors,)
    imputes = missing == "impute" and len(views) > 1 and not is_device_array(views[0])
    known = known if mask is None else None
    # With imputed rows M comes from all partitions together, not from the mean similarity.
    problem = _Problem(n_clusters, mask, mask is None or not imputes, sizes, count_samples, known)
    if reference is None:
        found = _fit(views, similarities, problem, n_jobs)
    else:
        found = _fit_reference(views, similarities, reference, problem, n_jobs)
    if found.counts is not None and sizes is not n_neighbors:
        found = replace(found, counts=tuple(None if one is None else one[0] for one in found.counts))
    return impute_partitions(found) if imputes else found


class _Problem(NamedTuple):
    """Options of `fit_base_partitions`."""

    n_clusters: int
    mask: Mask | None
    takes_mean: bool
    sizes: Sequence[int] | None
    count_samples: int | None
    known: Partitions | None = None

    def known_view(self, view: int) -> _KnownView | None:
        """What is known of a view."""
        if self.known is None or view >= len(self.known.blocks):
            return None
        counts = None if self.known.counts is None else [self.known.counts[view]]
        return _KnownView(self.known.blocks[view], self.known.vectors[view], counts)

    def observed(self, view: int) -> Mask | None:
        """Which samples have the view; None for all."""
        return None if self.mask is None else self.mask[:, view]


class _KnownView(NamedTuple):
    """Block, eigenvectors and neighbor counts of a view that was fitted before."""

    block: Block
    vectors: Array
    counts: Any


class _View(NamedTuple):
    """A view of the samples that have it, its similarity (None if it was added to the mean), and its eigenvectors."""

    view: Array
    encoding: Unchanged
    similarity: Any
    extension: Any
    vectors: Any
    projection: Any
    closeness: Any
    counts: Any


def _fit(
    views: Sequence[Array], similarities: Sequence[Similarity], problem: _Problem, n_jobs: int | None = None
) -> Partitions:
    n_views = len(views)
    fitted = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_fit_view)(view, similarity, problem, problem.observed(position), problem.known_view(position))
        for position, (view, similarity) in enumerate(zip(views, similarities, strict=True))
    )
    mean = closeness = None
    results: list[_View] = []
    for position, one in enumerate(fitted):
        report_progress(f"base partitions of {position + 1} of {n_views} views", (position + 1) / n_views)
        if isinstance(one.similarity, np.ndarray):
            if problem.takes_mean:
                mean = add_to_mean(mean, scatter_similarity(one.similarity, problem.mask, position), n_views)
            if one.closeness is not None:
                closeness = add_to_mean(closeness, one.closeness, n_views)
            one = one._replace(similarity=None, closeness=None)
        results.append(one)
    if problem.mask is not None:
        return _from_similarities(results, mean, closeness, problem)
    known = [one.similarity for one in results]
    if fits_gram(known, problem.n_clusters):
        extensions = [one.extension for one in results]
        found = gram_partitions(known, extensions, problem.n_clusters, problem.sizes, problem.count_samples)
    else:
        found = _from_similarities(results, mean, closeness, problem)
    return _settled(found, known)


def _fit_view(
    view: Array, similarity: Similarity, problem: _Problem, observed: Mask | None, known: _KnownView | None = None
) -> _View:
    """The similarity of the samples that have the view; its eigenvectors unless it is a factor."""
    sizes, encoding = problem.sizes, Unchanged()
    if observed is not None:
        samples = np.flatnonzero(observed)
        view = view[samples]
        if isinstance(similarity, PrecomputedSimilarity):
            view, encoding = view[:, samples], Unchanged(observed)
        sizes = None if sizes is None else sizes_within(sizes, len(observed), len(samples))
    matrix, extension = similarity.similarity(view, problem.n_clusters)
    closeness = counts = vectors = projection = None
    if sizes is not None and isinstance(matrix, np.ndarray):
        closeness = extension.closeness(view, matrix)
        counts = count_neighbors(closeness, sizes) if known is None else known.counts
    elif sizes is not None and observed is not None:
        (extension,), (counts, _) = count_by_closeness([view], [extension], sizes, problem.count_samples)
    if not isinstance(matrix, Factor) and known is not None:
        vectors, projection = known.vectors, known.block.projection
    elif not isinstance(matrix, Factor):
        _, vectors, projection = leading_eigenpairs(matrix, problem.n_clusters)
    closeness = closeness if observed is None else None  # neighborhoods of M are counted if no view is missing
    return _View(view, encoding, matrix, extension, vectors, projection, closeness, counts)


def _from_similarities(
    results: list[_View], mean: NDArray[Any] | None, closeness: NDArray[Any] | None, problem: _Problem
) -> Partitions:
    """Factors and graphs by products with vectors, and dense similarities, which are in the mean already."""
    n_clusters, mask = problem.n_clusters, problem.mask
    if mean is not None:
        mean, closeness = _form(results, mean, closeness, problem)
    extensions, counts = _count(results, closeness, problem)
    features = [feature_matrix(one.similarity) if isinstance(one.similarity, Factor) else None for one in results]
    blocks, vectors = [], []
    for position, (one, own) in enumerate(zip(results, features, strict=True)):
        rows, projection, observed = one.vectors, one.projection, problem.observed(position)
        if own is not None:
            projection = leading_projection(own, n_clusters, one.view.dtype)
            rows = (own @ projection).astype(one.view.dtype)
        spectrum = Spectrum(np.empty(0), rows, extensions[position], projection)
        if observed is not None:
            spectrum = spectrum.scattered(observed, len(observed))
        own_projection = spectrum.projection.astype(rows.dtype)
        blocks.append(Block(position, "given", one.encoding, spectrum.extension, own_projection))
        vectors.append(spectrum.vectors)
    if not problem.takes_mean:
        return Partitions(tuple(blocks), tuple(vectors), mask=mask, counts=counts)
    if len(blocks) == 1:  # the mean of one similarity is that similarity
        average, shares = vectors[0].copy(), [blocks[0].projection]
    else:
        graphs = [one.similarity if scipy.sparse.issparse(one.similarity) else None for one in results]
        precision = np.result_type(*[one.dtype for one in vectors])
        average, shares = mean_partition(graphs, features, mean, n_clusters, precision, mask)
    shares = [share.astype(rows.dtype) for share, rows in zip(shares, vectors, strict=True)]
    return partitions_with_mean(blocks, vectors, average, shares, mask=mask, counts=counts)


def _form(
    results: list[_View], mean: NDArray[Any], closeness: NDArray[Any] | None, problem: _Problem
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Add the similarities that are not dense to a dense mean, and their closeness to that of the others."""
    others = {position: one for position, one in enumerate(results) if one.similarity is not None}
    if not others:
        return mean, closeness
    # A factor, and the closeness that ranks neighborhoods, are formed and scaled; a graph is added to a copy.
    n_samples, plain = len(mean), not any(isinstance(one.similarity, Factor) for one in others.values())
    n_copies = 1 if problem.sizes is None and plain else 2
    require_memory(
        n_copies * n_samples**2 * item_bytes(mean),
        f"Beside a dense kernel, {len(others)} of {len(results)} views are formed as well, one at a time, for the mean "
        f"of all: {n_samples} x {n_samples} numbers in {n_copies} copies, which",
        "Use KernelSimilarity(method='factor') for the dense kernels, so that nothing is formed, or fewer samples; "
        "float32 views need half.",
    )
    for position, one in others.items():
        formed = one.similarity.toarray() if isinstance(one.similarity, Factor) else one.similarity
        mean = add_to_mean(mean, scatter_similarity(formed, problem.mask, position), len(results))
        del formed
        if closeness is not None and problem.sizes is not None:
            extension = one.extension.with_columns(one.view, np.arange(n_samples))
            near = extension.closeness(one.view)
            closeness = add_to_mean(closeness, near, len(results))
            results[position] = one._replace(extension=extension, counts=count_neighbors(near, problem.sizes))
    return mean, closeness


def _count(
    results: list[_View], closeness: NDArray[Any] | None, problem: _Problem
) -> tuple[list[Any], tuple[Any, ...] | None]:
    """Extensions with their columns, and neighbor counts, also of the mean closeness if no view is missing."""
    extensions, counts = [one.extension for one in results], [one.counts for one in results]
    if problem.sizes is None:
        return extensions, None
    if problem.mask is not None:
        return extensions, (*counts, None)
    if closeness is not None:
        return extensions, (*counts, count_neighbors(closeness, problem.sizes))
    views = [one.view for one in results]
    extensions, counts = count_by_closeness(views, extensions, problem.sizes, problem.count_samples)
    return extensions, tuple(counts)


def _settled(partitions: Partitions, similarities: Sequence[Any]) -> Partitions:
    """Select the k directions nearest to M in given partitions, since all of their eigenvalues are one."""
    assert partitions.mean is not None
    average, blocks = partitions.mean.rows, list(partitions.blocks)
    for position, (factor, vectors) in enumerate(zip(similarities, partitions.vectors, strict=True)):
        if not isinstance(factor, Factor) or not isinstance(factor.feature_map, GivenMap):
            continue
        if factor.feature_map.width > average.shape[1]:
            own = nearest_subspace(factor, average).astype(blocks[position].projection.dtype)
            blocks[position] = replace(blocks[position], projection=own)
            for rows in row_blocks(len(average), max(1, BLOCK_ENTRIES // len(own))):
                vectors[rows] = factor.rows(rows.start, rows.stop) @ own
    return replace(partitions, blocks=tuple(blocks))


def _fit_reference(
    views: Sequence[Array],
    similarities: Sequence[Similarity],
    reference: Similarity,
    problem: _Problem,
    n_jobs: int | None,
) -> Partitions:
    """Base partitions with M from all views side by side.

    With X_p the columns of view p and a_p² one over its mean squared distance, M holds the leading eigenvectors of one
    similarity of [a_1 X_1 | … | a_m X_m]. If all views contain the same kind of values, this distinguishes samples that
    are near in all views together from samples that are near in a single view, which a mean of similarities cannot. The
    row of M is zero for a new sample with a missing view.
    """
    n_views, n_clusters = len(views), problem.n_clusters
    together, scales = join_coordinates(views, np.ones(n_views))
    before = (
        [] if problem.known is None else [_single(problem.known, view) for view in range(len(problem.known.blocks))]
    )
    alone = problem._replace(mask=None, known=None)
    *others, last = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fit)([view], [similarity], alone)
        for view, similarity in zip(
            [*views[len(before) :], together], [*similarities[len(before) :], reference], strict=True
        )
    )
    fitted = [*before, *others]
    encoding = SideBySide((Unchanged(),) * n_views, scales)
    block = replace(last.blocks[0], view=n_views, name="reference", encoding=encoding)
    return Partitions(
        tuple(replace(one.blocks[0], view=view) for view, one in enumerate(fitted)),
        tuple(one.vectors[0] for one in fitted),
        fill=Fill(np.zeros((n_views + 1) * n_clusters, dtype=bool)),
        mean=Mean(last.vectors[0], (block,), np.eye(n_clusters)),
        counts=None if problem.sizes is None else tuple(one.counts[0] for one in [*fitted, last]),
    )


def _single(partitions: Partitions, view: int) -> Partitions:
    """The base partition of one view, with its neighbor counts for one size."""
    counts = None if partitions.counts is None else ([partitions.counts[view]],)
    return Partitions((partitions.blocks[view],), (partitions.vectors[view],), counts=counts)
