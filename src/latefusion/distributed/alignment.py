"""Global and local alignment of views that are chunked by rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from latefusion import estimators
from latefusion.arrays import namespace
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import FeatureMaps, FeatureProducts, fit_features, fitter_of, observed
from latefusion.distributed.first_pass import FirstPass, ObservedCounts, check_observed, first_pass, missing_views
from latefusion.distributed.passes import RowMap, lazy_rows
from latefusion.distributed.rows import ProjectedFeatures, WeightedPartitions, weighted_products
from latefusion.distributed.shell import ChunkedMixin, draw_start_rows, mean_cosines
from latefusion.encoding.coordinates import Unchanged
from latefusion.estimators.alignment_map import alignment_map
from latefusion.metrics import observed_agreement
from latefusion.partitions import Block, Partitions
from latefusion.partitions.filling import impute_partitions
from latefusion.partitions.gram import gram_projections, view_projections
from latefusion.partitions.mean import partitions_with_mean
from latefusion.partitions.neighborhoods import NeighborCounts, draw_samples, neighborhood_size, sampled_thresholds
from latefusion.similarities.extension import FeatureFitter
from latefusion.similarities.factor import LinearMap
from latefusion.solvers import compress_products
from latefusion.types import SolverResult


class PassResults(NamedTuple):
    """Results of the first two passes over the views.

    Attributes
    ----------
    views : ChunkedViews
    first : FirstPass
    maps : FeatureMaps
    products : FeatureProducts
        ΦᵀΦ.
    projection : ndarray of shape (total width, (n_views + 1) * n_clusters)
        Turns rows of Φ into rows of all base partitions and, last, of M.
    """

    views: ChunkedViews
    first: FirstPass
    maps: FeatureMaps
    products: FeatureProducts
    projection: NDArray[np.float64]

    @property
    def partitions(self) -> ProjectedFeatures:
        """Rows of all base partitions."""
        width = self.projection.shape[1] * self.views.n_views // (self.views.n_views + 1)
        return ProjectedFeatures(self.maps, self.projection[:, :width])

    def drawn(self, rows: RowMap) -> NDArray[Any]:
        """What a map returns for the drawn samples."""
        return rows(self.first.drawn_rows, self.first.drawn)


class _ChunkedAlignment(ChunkedMixin):
    """Alignment in a few passes; subclasses weight the rows."""

    missing: str
    reference: Any
    _store_result: Any

    def _fit_chunked(self, X: Any) -> None:
        if self.reference != "mean":
            raise ValueError(
                f"reference={self.reference!r} needs all views side by side in memory, but the views are chunked. Use "
                f"reference='mean'."
            )
        views = self._read_chunked(X, self.n_clusters)
        generator = check_random_state(self.random_state)
        subset = draw_start_rows(views, self.n_clusters, generator)
        fitters, first = self._first_pass(views, subset)
        encodings = [Unchanged()] * views.n_views
        maps, products = fit_features(views, first, list(enumerate(fitters)), encodings, self.n_clusters)
        results = PassResults(views, first, maps, products, self._projections(views, first, maps, products))
        partitions, result, rows = self._solve_chunked(results)
        rule = self._label_rows(views, rows, first, subset, self.n_clusters, generator)
        novelty = self._novelty(views, first, subset, [None] * views.n_views)
        if self.missing == "impute" and views.n_views > 1:
            drawn = np.split(results.drawn(results.partitions), views.n_views, axis=1)
            partitions = impute_partitions(replace(partitions, vectors=tuple(drawn)))
        self.consensus_map_ = replace(alignment_map(partitions, result.mixing, rule), novelty=novelty)

    def _first_pass(self, views: ChunkedViews, subset: NDArray[np.intp]) -> tuple[list[FeatureFitter], FirstPass]:
        """Fitters of all views and the rows that they need; missing views cost a second pass."""
        similarities, observed = self._similarities(views), None
        while True:
            sizes = [views.n_samples] * views.n_views if observed is None else observed.sizes.tolist()
            fitters = [
                fitter_of(one, name, size, self.n_clusters)
                for one, name, size in zip(similarities, views.names, sizes, strict=True)
            ]
            wanted = [[one.rows, *self._counted_rows(views)] for one in fitters]
            first = first_pass(views, wanted, subset, observed=observed, only_means=True)
            if observed is not None or not first.observed.has_missing:
                return fitters, first
            observed = first.observed
            check_observed(views.names, observed, self.n_clusters)
            self._accept_missing(views, observed)

    def _accept_missing(self, views: ChunkedViews, observed: ObservedCounts) -> None:
        """Store which views are observed, or raise an error."""
        if self.missing != "zero":
            raise missing_views(
                views.names,
                observed,
                f"missing={self.missing!r} would need the partitions of all samples in memory. Use missing='zero'",
            )
        self._store_observed(views)

    def _projections(
        self, views: ChunkedViews, first: FirstPass, maps: FeatureMaps, products: FeatureProducts
    ) -> NDArray[np.float64]:
        """The matrix that turns rows of Φ into rows of all base partitions and, last, of M."""
        precision = float(np.finfo(views.dtype).eps)
        projection = gram_projections(products.weighted(-1.0), maps.edges, self.n_clusters, precision)
        if not maps.has_missing:
            return projection
        own = gram_projections(products.gram, maps.edges, self.n_clusters, precision)
        width = self.n_clusters * views.n_views
        scales = np.sqrt(first.observed.sizes / views.n_samples)
        projection[:, :width] = own[:, :width] * np.repeat(scales, self.n_clusters)
        return projection

    def _counted_rows(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        """Rows that the first pass must collect for the counts of neighbours."""
        return []

    def _solve_chunked(self, results: PassResults) -> tuple[Partitions, SolverResult, RowMap]:
        """Solve and store the alignment; returns the partitions without rows, the solution and the consensus rows."""
        raise NotImplementedError

    def _store_chunked(
        self, results: PassResults, result: SolverResult, cross: NDArray[np.float64], counts: Any = None
    ) -> Partitions:
        """Store all small results; ``cross`` holds [H_1 | … | M]ᵀF. Returns the partitions without rows."""
        views, maps, k = results.views, results.maps, self.n_clusters
        own, shares = zip(*view_projections(results.projection, maps.edges, k), strict=True)
        dtypes = [array.dtype for array in views.arrays]
        blocks = [
            Block(view, "given", Unchanged(), extension, one.astype(dtype))
            for view, (extension, one, dtype) in enumerate(zip(maps.extensions, own, dtypes, strict=True))
        ]
        small = [one.astype(dtype) for one, dtype in zip(shares, dtypes, strict=True)]
        partitions = partitions_with_mean(blocks, (), np.empty((0, k), dtype=views.dtype), small, counts=counts)
        self._store_result(partitions, result)
        self.__dict__.pop("_partitions", None)  # of an earlier fit in memory
        self.agreement_ = mean_cosines(np.split(cross, views.n_views + 1)[:-1])
        self._store_lazy_partitions(views, results.partitions, views.n_views, k)
        return partitions


class GlobalAlignmentClustering(_ChunkedAlignment, estimators.GlobalAlignmentClustering):
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
    dask.array<_labels, shape=(300,), dtype=int64, chunksize=(300,), chunktype=numpy.ndarray>
    >>> model.labels_.compute().shape
    (300,)
    """

    def _solve_chunked(self, results: PassResults) -> tuple[Partitions, SolverResult, RowMap]:
        views, maps, products = results.views, results.maps, results.products
        width = self.n_clusters * views.n_views
        own, mean = results.projection[:, :width], results.projection[:, width:]
        between = own.T @ products.weighted(-0.5) @ mean
        of_mean = mean.T @ products.weighted(-1.0) @ mean
        narrow = np.block([[own.T @ products.gram @ own, between], [between.T, of_mean]])
        result = self._solve(*compress_products(narrow, self.n_clusters, xp=namespace(narrow)), self.regularization)
        mixing = np.concatenate(list(result.mixing))  # (m + 1) k × k
        partitions = self._store_chunked(results, result, narrow @ mixing)
        if not maps.has_missing:
            return partitions, result, ProjectedFeatures(maps, (results.projection @ mixing).astype(views.dtype))
        rows = ProjectedFeatures(
            maps, (own @ mixing[:width]).astype(views.dtype), (mean @ mixing[width:]).astype(views.dtype)
        )
        # The agreement of a view is that of its observed samples: of the drawn ones, if others are missing.
        seen, consensus = observed(results.first.drawn_rows), results.drawn(rows)
        drawn = np.split(results.drawn(results.partitions), views.n_views, axis=1)
        for view in np.flatnonzero(results.first.observed.sizes < views.n_samples):
            self.agreement_[view] = observed_agreement(drawn[view], consensus, seen, int(view))
        return partitions, result, rows


class LocalAlignmentClustering(_ChunkedAlignment, estimators.LocalAlignmentClustering):
    """`latefusion.LocalAlignmentClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `novelty_`, `partitions_`, `neighbor_counts_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything
    else is small and in memory, and `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    As `latefusion.distributed.GlobalAlignmentClustering`, with one more pass, in which neighbours are counted. Counts
    are estimated from ``count_samples`` or 512 sampled neighbourhoods, also for few samples. Missing views raise an
    error.
    """

    def _counted_rows(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        return list(draw_samples(views.n_samples, self.count_samples))

    def _accept_missing(self, views: ChunkedViews, observed: ObservedCounts) -> None:
        raise missing_views(
            views.names,
            observed,
            "neighbours are counted among complete samples only. Use GlobalAlignmentClustering",
        )

    def _solve_chunked(self, results: PassResults) -> tuple[Partitions, SolverResult, RowMap]:
        views, first, maps = results.views, results.first, results.maps
        k, m, n_samples = self.n_clusters, views.n_views, views.n_samples
        samples, judges = self._counted_rows(views)
        known = [_with_columns(one, first.read(samples, view)) for view, one in enumerate(maps.extensions)]
        maps = replace(maps, extensions=known)
        blocks = [first.read(judges, view) for view in range(m)]
        closeness = (one.closeness(block, own) for one, block, own in zip(known, blocks, maps(blocks), strict=True))
        size = neighborhood_size(self.neighborhood, n_samples)
        thresholds = sampled_thresholds(samples, judges, closeness, n_samples, [size], m)
        rows = WeightedPartitions(maps, results.projection.astype(views.dtype), thresholds, samples, n_samples)
        sums = weighted_products(views, rows)
        width = (m + 1) * k
        weighted = sums.gram[width:, width:]
        result = self._solve(*compress_products(weighted, k, xp=namespace(weighted)), self.regularization)
        cross = sums.gram[:width, width:] @ np.concatenate(list(result.mixing))
        counts = [
            NeighborCounts(counted, own[0], n_samples, samples)
            for counted, own in zip(sums.known, thresholds, strict=True)
        ]
        partitions = self._store_chunked(results._replace(maps=maps), result, cross, counts)
        self.neighbor_count_error_ = sums.errors / ((m + 1) * n_samples)
        self.neighbor_counts_ = lazy_rows(views, rows.counts, "counts", width=m + 1, dtype=np.float64).T
        return partitions, result, replace(rows, mixing=result.mixing)


def _with_columns(extension: Any, rows: Any) -> Any:
    """An extension that stores the rows with known neighbourhoods."""
    if isinstance(extension.feature_map, LinearMap) and scipy.sparse.issparse(rows):
        rows = rows.toarray()
    return extension.with_columns(rows, np.arange(rows.shape[0]))
