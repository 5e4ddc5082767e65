"""Global and local alignment of views that are chunked by rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from latefusion import estimators
from latefusion.arrays import namespace
from latefusion.base import warn_not_converged
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import Products, RowFeatures, ViewPlaces, feature_products
from latefusion.distributed.recipes import recipe_of
from latefusion.distributed.rows import CountedRows, Counts, ProjectedRows, RowMap, counted_products, lazy_map
from latefusion.distributed.shell import ChunkedMixin, draw_competition
from latefusion.distributed.stores import is_chunked
from latefusion.distributed.survey import Survey, survey
from latefusion.partitions import BasePartitions, describe_partition, neighborhood_size
from latefusion.partitions.factor import LinearMap
from latefusion.partitions.factor_partitions import gram_projections
from latefusion.partitions.neighborhoods import KnownCounts, draw_samples, sampled_thresholds
from latefusion.solvers import compress_products
from latefusion.types import SolverResult


class _ChunkedAlignment(ChunkedMixin):
    """Alignment in few passes; a subclass says how rows are weighed."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Cluster the samples.

        Parameters
        ----------
        X : list or dict of chunked views, or one of them
            Dask arrays or data frames, Zarr arrays, memory-mapped arrays, or paths of Zarr stores, Parquet folders and
            ``.npy`` files, with the same rows in any chunks. Views in memory only are fitted in memory.
        y : ignored
            Present by convention.

        Returns
        -------
        self
        """
        if not is_chunked(X):
            return super().fit(X, y)  # type: ignore[misc]
        views = self._read_chunked(X, self.n_clusters)
        generator = check_random_state(self.random_state)
        subset = draw_competition(views, self.n_clusters, generator)
        recipes = [
            recipe_of(one, name, views.n_samples, self.n_clusters)
            for one, name in zip(self._similarities(views), views.names, strict=True)
        ]
        found = survey(views, [subset, *self._rows_to_see(views), *(one.rows for one in recipes)])
        extensions = [
            one.fit(partial(found.take, view), found.views[view].mean, views.arrays[view].dtype)
            for view, one in enumerate(recipes)
        ]
        features, products = feature_products(
            views, RowFeatures(ViewPlaces(), extensions, views.dtype), self.n_clusters
        )
        xp, precision = namespace(products.gram), float(np.finfo(views.dtype).eps)
        projection = gram_projections(products.gram, features.edges, self.n_clusters, precision, xp=xp)
        rows = self._solve_chunked(views, found, features, products, projection)
        self._label_rows(views, rows, found, subset, self.n_clusters, generator)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def _rows_to_see(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        """Rows that the survey has to bring for the weighing."""
        return []

    def _solve_chunked(
        self,
        views: ChunkedViews,
        found: Survey,
        features: RowFeatures,
        products: Products,
        projection: NDArray[np.float64],
    ) -> RowMap:
        """Solve the alignment, store it, and say how consensus rows are made."""
        raise NotImplementedError

    def _store_chunked(
        self,
        views: ChunkedViews,
        features: RowFeatures,
        projection: NDArray[np.float64],
        result: SolverResult,
        cross: Sequence[NDArray[np.float64]],
        neighbors: list[Any] | None = None,
    ) -> None:
        """Everything that is small; ``cross`` holds H_pᵀF per view."""
        k, m = self.n_clusters, views.n_views
        self.view_weights_ = result.weights
        self.rotations_ = result.rotations
        self.objective_ = np.asarray(result.objective)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self._mixing = result.mixing
        infos = map(describe_partition, features.extensions)
        self.partition_info_ = dict(zip(self.view_names_, infos, strict=True))
        cosines = [np.linalg.svd(one, compute_uv=False).sum() / k for one in cross]
        self.agreement_ = np.minimum(1.0, cosines)
        own = [slice(int(start), int(stop)) for start, stop in zip(features.edges, features.edges[1:], strict=False)]
        dtypes = [array.dtype for array in views.arrays]
        shares = [
            np.concatenate([projection[part, p * k : (p + 1) * k], projection[part, m * k :]], axis=1).astype(dtype)
            for p, (part, dtype) in enumerate(zip(own, dtypes, strict=True))
        ]
        self._base = BasePartitions([], np.empty((0, k), dtype=views.dtype), features.extensions, shares, neighbors)
        together = lazy_map(
            views, ProjectedRows(features, projection[:, : m * k]), "partitions", width=m * k, dtype=views.dtype
        )
        self.partitions_ = [together[:, p * k : (p + 1) * k] for p in range(m)]

    def _aligned_partitions(self, base: BasePartitions) -> Any:
        if not base.partitions:
            raise ValueError(
                f"This {type(self).__name__} was fitted on chunked views, and their base partitions are not in memory: "
                f"what was asked for needs them. Fit it on a sample of the rows in memory."
            )
        return super()._aligned_partitions(base)  # type: ignore[misc]


class GlobalAlignmentClustering(_ChunkedAlignment, estimators.GlobalAlignmentClustering):
    """`latefusion.GlobalAlignmentClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `partitions_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything else is small and concrete, and
    `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    Work is done by the active client of Dask, or by its default scheduler where there is none. Kernels go through a
    factor and graphs through anchors, as in memory beyond 6000 and 10 000 samples: from there on labels are those of
    the class in memory on the same views, whatever the chunks.

    Fitting reads the views three times: for column means and some sampled rows, for the inner products of features, and
    for the consensus rows, on which k-means runs. These are kept in the memory of the workers where they need no more
    than a quarter of it; otherwise every iteration of k-means reads the views once more. A graph with more components
    than clusters gets more anchors, which costs one more pass each time. Labels, when they are asked for, cost one.

    A chunk that cannot be read or computed, or that workers die of, raises `ChunkError` with its view and number.

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

    def _solve_chunked(
        self,
        views: ChunkedViews,
        found: Survey,
        features: RowFeatures,
        products: Products,
        projection: NDArray[np.float64],
    ) -> RowMap:
        narrow = projection.T @ products.gram @ projection
        result = self._solve(*compress_products(narrow, self.n_clusters, xp=namespace(narrow)), self.regularization)
        mixing = np.concatenate(list(result.mixing))  # (m + 1) k × k
        cross = np.split(narrow @ mixing, views.n_views + 1)[:-1]
        self._store_chunked(views, features, projection, result, cross)
        return ProjectedRows(features, (projection @ mixing).astype(views.dtype))


class LocalAlignmentClustering(_ChunkedAlignment, estimators.LocalAlignmentClustering):
    """`latefusion.LocalAlignmentClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `partitions_`, `neighbor_counts_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything else is
    small and concrete, and `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    As `latefusion.distributed.GlobalAlignmentClustering`, with one more pass, in which neighbours are counted. Counts
    come from sampled neighbourhoods, ``count_samples`` or 512 of them, also where there are few samples.
    """

    def _rows_to_see(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        return list(draw_samples(views.n_samples, self.count_samples))

    def _solve_chunked(
        self,
        views: ChunkedViews,
        found: Survey,
        features: RowFeatures,
        products: Products,
        projection: NDArray[np.float64],
    ) -> RowMap:
        k, m, n_samples = self.n_clusters, views.n_views, views.n_samples
        samples, judges = self._rows_to_see(views)
        known = [_with_columns(one, found.take(view, samples)) for view, one in enumerate(features.extensions)]
        features = replace(features, extensions=known)
        blocks = [found.take(view, judges) for view in range(m)]
        closeness = (one.closeness(block, own) for one, block, own in zip(known, blocks, features(blocks), strict=True))
        size = neighborhood_size(self.neighborhood, n_samples)
        thresholds = sampled_thresholds(samples, judges, closeness, n_samples=n_samples, n_neighbors=(size,), n_views=m)
        rows = CountedRows(features, projection.astype(views.dtype), thresholds, samples, n_samples)
        counted = counted_products(views, rows)
        width = (m + 1) * k
        weighed = counted.gram[width:, width:]
        result = self._solve(*compress_products(weighed, k, xp=namespace(weighed)), self.regularization)
        mixing = np.concatenate(list(result.mixing))
        cross = np.split(counted.gram[:width, width:] @ mixing, m + 1)[:-1]
        neighbors = [
            KnownCounts(counts, own[0], samples, n_samples)
            for counts, own in zip(counted.known, thresholds, strict=True)
        ]
        self._store_chunked(views, features, projection, result, cross, neighbors)
        self.neighbor_count_error_ = counted.errors / ((m + 1) * n_samples)
        self.neighbor_counts_ = lazy_map(views, Counts(rows), "counts", width=m + 1, dtype=np.float64).T
        return replace(rows, mixing=result.mixing)


def _with_columns(extension: Any, rows: Any) -> Any:
    """An extension that knows the rows whose neighbourhoods count."""
    if isinstance(extension.feature_map, LinearMap) and scipy.sparse.issparse(rows):
        rows = rows.toarray()
    return extension.with_columns(rows, np.arange(rows.shape[0]))
