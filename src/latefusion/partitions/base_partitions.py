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
from latefusion.partitions.gram import fits_gram, gram_partitions
from latefusion.partitions.imputation import Fill
from latefusion.partitions.mean import RunningMean, mean_partition, partitions_with_mean
from latefusion.partitions.missing import ScatteredRows, impute_partitions, scatter_rows, scatter_similarity
from latefusion.partitions.neighborhoods import Sizes, count_by_closeness, count_neighbors, sizes_within
from latefusion.partitions.operators import feature_matrix, leading_eigenvectors, leading_projection
from latefusion.partitions.partitions import BLOCK_ENTRIES, Block, Mean, Partitions
from latefusion.partitions.sources import join_coordinates
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
    n_neighbors: Sizes | None = None,
    count_samples: int | None = None,
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
    if reference is not None:
        found = _fit_reference(views, similarities, reference, n_clusters, n_neighbors, count_samples, n_jobs)
    else:
        problem = _Problem(n_clusters, mask, missing == "impute", n_neighbors, count_samples)
        found = _fit(views, similarities, problem, n_jobs)
    imputes = missing == "impute" and len(views) > 1 and not is_device_array(views[0])
    return impute_partitions(found) if imputes else found


class _Problem(NamedTuple):
    """Options of `fit_base_partitions`."""

    n_clusters: int
    mask: Mask | None = None
    imputes: bool = False
    n_neighbors: Sizes | None = None
    count_samples: int | None = None

    @property
    def factors(self) -> NDArray[np.float64] | None:
        """D^{-1/2} of `latefusion.partitions.missing`."""
        return None if self.mask is None else np.sqrt(self.mask.shape[1] / self.mask.sum(axis=1))

    @property
    def takes_mean(self) -> bool:
        """Whether M comes from the mean similarity; with imputed rows it comes from all partitions together."""
        return self.mask is None or not self.imputes

    def observed(self, view: int) -> Mask | None:
        """Which samples have the view; None for all."""
        return None if self.mask is None else self.mask[:, view]


class _View(NamedTuple):
    """The similarity of a view (None if it was added to the mean already), its extension, and its eigenvectors."""

    similarity: Any
    extension: Any
    vectors: Any = None
    projection: Any = None
    closeness: Any = None
    counts: Any = None


def _fit(
    views: Sequence[Array], similarities: Sequence[Similarity], problem: _Problem, n_jobs: int | None
) -> Partitions:
    n_views = len(views)
    fitted = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_fit_view)(view, similarity, problem, problem.observed(position))
        for position, (view, similarity) in enumerate(zip(views, similarities, strict=True))
    )
    mean, closeness = RunningMean(n_views), RunningMean(n_views)
    results: list[_View] = []
    for position, one in enumerate(fitted):
        report_progress(f"base partitions of {position + 1} of {n_views} views", (position + 1) / n_views)
        if isinstance(one.similarity, np.ndarray):
            if problem.takes_mean:
                mean.add(scatter_similarity(one.similarity, problem.observed(position), problem.factors))
            if one.closeness is not None:
                closeness.add(one.closeness)
            one = one._replace(similarity=None, closeness=None)
        results.append(one)
    known = [one.similarity for one in results]
    if problem.mask is None and fits_gram(known, problem.n_clusters):
        found = gram_partitions(
            views,
            known,
            [one.extension for one in results],
            problem.n_clusters,
            n_neighbors=problem.n_neighbors,
            count_samples=problem.count_samples,
        )
    else:
        found = _from_similarities(views, similarities, results, mean, closeness, problem)
    return found if problem.mask is not None else _settled(found, known)


def _fit_view(view: Array, similarity: Similarity, problem: _Problem, observed: Mask | None) -> _View:
    """The similarity of the samples that have the view; its eigenvectors unless it is a factor."""
    if observed is not None:
        samples = np.flatnonzero(observed)
        view = view[samples]
        view = view[:, samples] if isinstance(similarity, PrecomputedSimilarity) else view
    matrix, extension = similarity.similarity(view, problem.n_clusters)
    closeness, counts, sizes = None, None, problem.n_neighbors
    if sizes is not None and isinstance(matrix, np.ndarray):
        closeness = extension.closeness(view, matrix)
        sizes = sizes if observed is None else sizes_within(sizes, len(observed), len(matrix))
        counts = count_neighbors(closeness, sizes)
    elif sizes is not None and observed is not None:
        sizes = sizes_within(sizes, len(observed), view.shape[0])
        (extension,), (counts, _) = count_by_closeness([view], [extension], sizes, problem.count_samples)
    solved = () if isinstance(matrix, Factor) else leading_eigenvectors(matrix, problem.n_clusters)
    found = _View(matrix, extension, *solved)
    return found._replace(closeness=None if observed is not None else closeness, counts=counts)


def _from_similarities(
    views: Sequence[Array],
    similarities: Sequence[Similarity],
    results: Sequence[_View],
    mean: RunningMean,
    closeness: RunningMean,
    problem: _Problem,
) -> Partitions:
    """Factors and graphs by products with vectors, and dense similarities, which are in the mean already."""
    n_clusters, mask = problem.n_clusters, problem.mask
    if mean.value is not None:
        _form(results, mean, problem)
    extensions, counts = _count(views, results, closeness, problem, formed=mean.value is not None)
    features = [feature_matrix(one.similarity) if isinstance(one.similarity, Factor) else None for one in results]
    blocks, vectors = [], []
    for position, (view, one, own) in enumerate(zip(views, results, features, strict=True)):
        rows, projection, observed = one.vectors, one.projection, problem.observed(position)
        if own is not None:
            projection = leading_projection(own, n_clusters, view.dtype)
            rows = (own @ projection).astype(view.dtype)
        encoding = Unchanged()
        if observed is not None:
            scale = rows.dtype.type(np.sqrt(np.mean(observed)))
            rows, projection = scatter_rows(scale * rows, observed), scale * projection
            encoding = Unchanged(observed if isinstance(similarities[position], PrecomputedSimilarity) else None)
        blocks.append(Block(position, "given", encoding, extensions[position], projection.astype(rows.dtype)))
        vectors.append(rows)
    if not problem.takes_mean:
        return Partitions(tuple(blocks), tuple(vectors), mask=mask, counts=counts)
    if len(blocks) == 1:  # the mean of one similarity is that similarity
        average, shares = vectors[0].copy(), [blocks[0].projection]
    else:
        average, shares = _mean(results, features, mean, problem, np.result_type(*[one.dtype for one in vectors]))
    shares = [share.astype(rows.dtype) for share, rows in zip(shares, vectors, strict=True)]
    return partitions_with_mean(blocks, vectors, average, shares, mask=mask, counts=counts)


def _form(results: Sequence[_View], mean: RunningMean, problem: _Problem) -> None:
    """Add the similarities that are not dense to a dense mean."""
    others = [(position, one.similarity) for position, one in enumerate(results) if one.similarity is not None]
    if not others:
        return
    # A factor, and the closeness that ranks neighborhoods, are formed and scaled; a graph is added to a copy.
    n_samples, plain = len(mean.value), not any(isinstance(one, Factor) for _, one in others)
    n_copies = 1 if problem.n_neighbors is None and plain else 2
    require_memory(
        n_copies * n_samples**2 * item_bytes(mean.value),
        f"Beside a dense kernel, {len(others)} of {len(results)} views are formed as well, one at a time, for the mean "
        f"of all: {n_samples} x {n_samples} numbers in {n_copies} copies, which",
        "Use KernelSimilarity(method='factor') for the dense kernels, so that nothing is formed, or fewer samples; "
        "float32 views need half.",
    )
    for position, one in others:
        formed = one.toarray() if isinstance(one, Factor) else one
        mean.add(scatter_similarity(formed, problem.observed(position), problem.factors))


def _count(
    views: Sequence[Array], results: Sequence[_View], closeness: RunningMean, problem: _Problem, *, formed: bool
) -> tuple[list[Any], tuple[Any, ...] | None]:
    """Extensions with their columns, and neighbor counts, also of the mean closeness if no view is missing."""
    extensions, counts = [one.extension for one in results], [one.counts for one in results]
    if problem.n_neighbors is None:
        return extensions, None
    if problem.mask is not None:
        return extensions, (*counts, None)
    if not formed:
        extensions, counts = count_by_closeness(views, extensions, problem.n_neighbors, problem.count_samples)
        return extensions, tuple(counts)
    for position, (view, one) in enumerate(zip(views, results, strict=True)):
        if one.similarity is not None:
            extensions[position] = one.extension.with_columns(view, np.arange(view.shape[0]))
            near = extensions[position].closeness(view)
            closeness.add(near)
            counts[position] = count_neighbors(near, problem.n_neighbors)
    return extensions, (*counts, count_neighbors(closeness.value, problem.n_neighbors))


def _mean(
    results: Sequence[_View], features: Sequence[Any], mean: RunningMean, problem: _Problem, precision: Any
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """M and the N_p of all views."""
    mask, factors = problem.mask, problem.factors
    graphs = [one.similarity if scipy.sparse.issparse(one.similarity) else None for one in results]
    if mask is None or factors is None:
        return mean_partition(graphs, features, mean.value, problem.n_clusters, precision)
    graphs = [
        None if one is None else scatter_similarity(one, seen, factors)
        for one, seen in zip(graphs, mask.T, strict=True)
    ]
    scattered = [
        None if one is None else ScatteredRows(one, seen, factors) for one, seen in zip(features, mask.T, strict=True)
    ]
    average, shares = mean_partition(graphs, scattered, mean.value, problem.n_clusters, precision)
    own = [
        share if one is not None else factors[seen, None] * share[seen]
        for share, one, seen in zip(shares, features, mask.T, strict=True)
    ]
    return average, own


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
    n_clusters: int,
    n_neighbors: Sizes | None,
    count_samples: int | None,
    n_jobs: int | None,
) -> Partitions:
    """Base partitions with M from all views side by side.

    With X_p the columns of view p and a_p² one over its mean squared distance, M holds the leading eigenvectors of one
    similarity of [a_1 X_1 | … | a_m X_m]. If all views contain the same kind of values, this distinguishes samples that
    are near in all views together from samples that are near in a single view, which a mean of similarities cannot. The
    row of M is zero for a new sample with a missing view.
    """
    together, scales = join_coordinates(views, np.ones(len(views)))
    problem = _Problem(n_clusters, n_neighbors=n_neighbors, count_samples=count_samples)
    *fitted, last = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fit)([view], [similarity], problem, None)
        for view, similarity in zip([*views, together], [*similarities, reference], strict=True)
    )
    n_views = len(views)
    encoding = SideBySide((Unchanged(),) * n_views, scales)
    block = replace(last.blocks[0], view=n_views, name="reference", encoding=encoding)
    return Partitions(
        tuple(replace(one.blocks[0], view=view) for view, one in enumerate(fitted)),
        tuple(one.vectors[0] for one in fitted),
        fill=Fill(np.zeros((n_views + 1) * n_clusters, dtype=bool)),
        mean=Mean(last.vectors[0], (block,), np.eye(n_clusters)),
        counts=None if n_neighbors is None else tuple(one.counts[0] for one in [*fitted, last]),
    )
