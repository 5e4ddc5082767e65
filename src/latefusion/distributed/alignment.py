"""Alignment of views that are chunked by rows, and global alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from latefusion import estimators
from latefusion.arrays import namespace
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import FeatureMaps, FeatureProducts, ProjectedFeatures, fit_features, fitter_of
from latefusion.distributed.first_pass import FirstPass, check_observed, first_pass, observed
from latefusion.distributed.passes import RowMap, lazy_rows
from latefusion.distributed.shell import ChunkedMixin, draw_start_rows, mean_cosines
from latefusion.encoding.coordinates import Unchanged
from latefusion.estimators.alignment_map import alignment_map
from latefusion.metrics import observed_agreement
from latefusion.partitions import Block, Partitions
from latefusion.partitions.fitting import impute_partitions
from latefusion.partitions.gram import gram_projections, view_projections
from latefusion.partitions.mean import partitions_with_mean
from latefusion.partitions.neighborhoods import NeighborCounts
from latefusion.similarities.extension import FeatureFitter
from latefusion.solvers import compress_products
from latefusion.types import SolverResult


class Solution(NamedTuple):
    """The alignment of all samples.

    Attributes
    ----------
    result : SolverResult
    cross : ndarray of shape ((n_views + 1) * n_clusters, n_clusters)
        [H_1 | … | M]ᵀF.
    rows : RowMap
        The consensus rows.
    extensions : sequence of FactorExtension or AnchorExtension
        One per view.
    counts : list of NeighborCounts or None
    """

    result: SolverResult
    cross: NDArray[np.float64]
    rows: RowMap
    extensions: Sequence[Any]
    counts: list[NeighborCounts] | None = None


class ChunkedAlignment(ChunkedMixin):
    """Alignment in a few passes; ``_solve_chunked`` of subclasses aligns the partitions of all samples."""

    def _fit_chunked(self, X: Any) -> None:
        if self.reference != "mean":
            raise ValueError(
                f"reference={self.reference!r} needs all views side by side in memory, but the views are chunked. Use "
                f"reference='mean'."
            )
        views, k = self._read_chunked(X, self.n_clusters), self.n_clusters
        generator = check_random_state(self.random_state)
        fitters, first = self._first_pass(views, draw_start_rows(views, k, generator))
        maps, products = fit_features(first, list(enumerate(fitters)), [Unchanged()] * views.n_views, k)
        projection = self._projections(first, maps, products)
        solved = self._solve_chunked(first, maps, products, projection)
        partitions = self._partitions_of(views, projection, maps.edges, solved)
        self._store_result(partitions, solved.result)
        self.__dict__.pop("_partitions", None)  # of an earlier fit in memory
        rows = ProjectedFeatures(maps, projection[:, : views.n_views * k])
        self._store_lazy_partitions(views, rows, views.n_views, k)
        self.agreement_ = mean_cosines(np.split(solved.cross, views.n_views + 1)[:-1])
        if maps.has_missing:  # then it is the agreement of the drawn samples that have the view
            seen, consensus = observed(first.drawn_rows), solved.rows(first.drawn_rows, first.drawn)
            drawn = np.split(rows(first.drawn_rows, first.drawn), views.n_views, axis=1)
            for view in np.flatnonzero(first.observed.sizes < views.n_samples):
                self.agreement_[view] = observed_agreement(drawn[view], consensus, seen, int(view))
        if self.missing == "impute" and views.n_views > 1:
            drawn = np.split(rows(first.drawn_rows, first.drawn), views.n_views, axis=1)
            partitions = impute_partitions(replace(partitions, vectors=tuple(drawn)))
        fitted = alignment_map(partitions, solved.result.mixing, None)
        self._store_rows(first, solved.rows, fitted, [None] * views.n_views, generator)

    def _first_pass(self, views: ChunkedViews, drawn: NDArray[np.intp]) -> tuple[list[FeatureFitter], FirstPass]:
        """Fitters of all views and the rows that they need; missing views cost a second pass."""
        similarities, counts = self._similarities(views), None
        while True:
            sizes = [views.n_samples] * views.n_views if counts is None else counts.sizes.tolist()
            fitters = [
                fitter_of(one, name, size, self.n_clusters)
                for one, name, size in zip(similarities, views.names, sizes, strict=True)
            ]
            wanted = [[one.rows, *self._counted_rows(views)] for one in fitters]
            first = first_pass(views, wanted, drawn, counts=counts, only_means=True)
            if counts is not None or not first.observed.has_missing:
                return fitters, first
            counts = first.observed
            check_observed(views.names, counts, self.n_clusters, self._missing_refusal())
            self.observed_ = lazy_rows(views, observed, "observed", width=views.n_views, dtype=np.bool_)
            self.n_observed_views_ = self.observed_.sum(axis=1, dtype=np.intp)

    def _missing_refusal(self) -> str:
        """Why views must not be missing, and what to use instead; empty if they may be."""
        if self.missing == "zero":
            return ""
        return f"missing={self.missing!r} would need the partitions of all samples in memory. Use missing='zero'"

    def _projections(self, first: FirstPass, maps: FeatureMaps, products: FeatureProducts) -> NDArray[np.float64]:
        """The matrix that turns rows of Φ into rows of all base partitions and, last, of M."""
        precision = float(np.finfo(maps.dtype).eps)
        projection = gram_projections(products.weighted(-1.0), maps.edges, self.n_clusters, precision)
        if maps.has_missing:
            own = gram_projections(products.gram, maps.edges, self.n_clusters, precision)
            width = self.n_clusters * first.views.n_views
            scales = np.sqrt(first.observed.sizes / first.views.n_samples)
            projection[:, :width] = own[:, :width] * np.repeat(scales, self.n_clusters)
        return projection

    def _counted_rows(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        """Rows that the first pass must collect for the counts of neighbours."""
        return []

    def _partitions_of(
        self, views: ChunkedViews, projection: NDArray[np.float64], edges: NDArray[np.intp], solved: Solution
    ) -> Partitions:
        """Partitions without the rows of samples."""
        k, blocks, shares = self.n_clusters, [], []
        parts = view_projections(projection, edges, k)
        for view, (extension, (own, share)) in enumerate(zip(solved.extensions, parts, strict=True)):
            dtype = views.arrays[view].dtype
            blocks.append(Block(view, "given", Unchanged(), extension, own.astype(dtype)))
            shares.append(share.astype(dtype))
        return partitions_with_mean(blocks, (), np.empty((0, k), dtype=views.dtype), shares, counts=solved.counts)


class GlobalAlignmentClustering(ChunkedAlignment, estimators.GlobalAlignmentClustering):
    """`latefusion.GlobalAlignmentClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `novelty_`, `partitions_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything else is small and
    in memory, and `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    The active client of Dask does the work, or the default scheduler if there is no client. Kernels use a factor and
    graphs use anchors, as in memory beyond 6000 and 10 000 samples. From these sizes on, labels are those of the class
    in memory for the same views, for any chunks.

    A view is missing for a sample if all values of its row are NaN, or if the mask of `latefusion.Views` marks it. With
    ``missing="zero"`` the sample is clustered by its other views, as in memory. The `agreement_` of a view with missing
    samples is computed from the sampled rows, 20 000 or more.

    A fit reads the views three times: for column means and some sampled rows, for the inner products of features, and
    for the consensus rows, on which k-means runs. These are kept in the memory of the workers if they need at most a
    quarter of it; otherwise every iteration of k-means reads the views once more. Missing views cost one more pass. So
    does a graph with more components than clusters, which gets more anchors. Computing the labels costs one pass.

    `ChunkError` names the view and number of a chunk that cannot be read or computed, or at which workers are killed.

    Examples
    --------
    >>> import dask.array as da
    >>> from latefusion.datasets import make_views
    >>> from latefusion.distributed import GlobalAlignmentClustering
    >>> data = make_views(n_samples=300, n_clusters=3, random_state=0)
    >>> views = {name: da.from_array(view, chunks=(100, -1)) for name, view in data.views.items()}
    >>> model = GlobalAlignmentClustering(n_clusters=3, kernel="linear", random_state=0).fit(views)
    >>> model.labels_
    dask.array<labels, shape=(300,), dtype=int64, chunksize=(300,), chunktype=numpy.ndarray>
    >>> model.labels_.compute().shape
    (300,)
    """

    def _solve_chunked(
        self, first: FirstPass, maps: FeatureMaps, products: FeatureProducts, projection: NDArray[np.float64]
    ) -> Solution:
        dtype, width = maps.dtype, self.n_clusters * first.views.n_views
        own, mean = projection[:, :width], projection[:, width:]
        between = own.T @ products.weighted(-0.5) @ mean
        of_mean = mean.T @ products.weighted(-1.0) @ mean
        narrow = np.block([[own.T @ products.gram @ own, between], [between.T, of_mean]])
        result = self._solve(*compress_products(narrow, self.n_clusters, xp=namespace(narrow)), self.regularization)
        mixing = np.concatenate(list(result.mixing))  # (m + 1) k × k
        rows = ProjectedFeatures(maps, (projection @ mixing).astype(dtype))
        if maps.has_missing:
            of_mean = (mean @ mixing[width:]).astype(dtype)
            rows = ProjectedFeatures(maps, (own @ mixing[:width]).astype(dtype), of_mean)
        return Solution(result, narrow @ mixing, rows, maps.extensions)
