"""Global and local alignment of views that are chunked by rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from latefusion import estimators
from latefusion.arrays import namespace
from latefusion.base import warn_not_converged
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import Products, RowFeatures, feature_products, observed
from latefusion.distributed.recipes import Recipe, recipe_of
from latefusion.distributed.rows import CountedRows, ProjectedRows, RowMap, counted_products, lazy_map
from latefusion.distributed.shell import ChunkedMixin, draw_competition
from latefusion.distributed.stores import is_chunked
from latefusion.distributed.survey import Presence, Survey, check_presence, lacking_views, survey
from latefusion.encoding.coordinates import Unchanged
from latefusion.estimators.alignment_map import alignment_map
from latefusion.estimators.incomplete import observed_agreement
from latefusion.partitions import Block, NeighborCounts, Partitions, neighborhood_size
from latefusion.partitions.gram import gram_projections, view_projections
from latefusion.partitions.mean import partitions_with_mean
from latefusion.partitions.missing import impute_partitions
from latefusion.partitions.neighborhoods import draw_samples, sampled_thresholds
from latefusion.similarities.factor import LinearMap
from latefusion.solvers import compress_products
from latefusion.types import SolverResult


class Sums(NamedTuple):
    """What two passes over the views found.

    Attributes
    ----------
    views : ChunkedViews
    found : Survey
        Of the first pass.
    features : RowFeatures
    products : Products
        ΦᵀΦ, of the second pass.
    projection : ndarray of shape (total width, (n_views + 1) * n_clusters)
        What turns rows of Φ into rows of all base partitions and, last, of M.
    """

    views: ChunkedViews
    found: Survey
    features: RowFeatures
    products: Products
    projection: NDArray[np.float64]

    @property
    def own(self) -> ProjectedRows:
        """Rows of all base partitions."""
        width = self.projection.shape[1] * self.views.n_views // (self.views.n_views + 1)
        return ProjectedRows(self.features, self.projection[:, :width])

    def drawn(self, rows: RowMap) -> NDArray[Any]:
        """Rows of the drawn samples."""
        return rows([one.drawn for one in self.found.views], self.found.drawn)


class _ChunkedAlignment(ChunkedMixin):
    """Alignment in few passes; a subclass says how rows are weighed."""

    missing: str
    reference: Any
    converged_: bool
    _store_result: Any

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
        with self._all_or_nothing():
            self._fit_chunked(X)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def _fit_chunked(self, X: Any) -> None:
        if self.reference != "mean":
            raise ValueError(
                f"reference={self.reference!r} puts all views side by side in memory, which chunked views are not "
                f"meant for. Use reference='mean'."
            )
        views = self._read_chunked(X, self.n_clusters)
        generator = check_random_state(self.random_state)
        subset = draw_competition(views, self.n_clusters, generator)
        recipes, found = self._look_at(views, subset)
        extensions = [
            one.fit(partial(found.take, view), found.views[view].mean, views.arrays[view].dtype)
            for view, one in enumerate(recipes)
        ]
        features = RowFeatures(list, extensions, views.dtype, found.presence.has_holes)
        features, products = feature_products(views, features, self.n_clusters)
        sums = Sums(views, found, features, products, self._projections(views, found, features, products))
        partitions, result, rows = self._solve_chunked(sums)
        rule = self._label_rows(views, rows, found, subset, self.n_clusters, generator)
        novelty = self._novelty(views, found, subset, [None] * views.n_views)
        if self.missing == "impute" and views.n_views > 1:
            drawn = np.split(sums.drawn(sums.own), views.n_views, axis=1)
            partitions = impute_partitions(replace(partitions, vectors=tuple(drawn)))
        self.consensus_map_ = replace(alignment_map(partitions, result.mixing, rule), novelty=novelty)

    def _look_at(self, views: ChunkedViews, subset: NDArray[np.intp]) -> tuple[list[Recipe], Survey]:
        """Recipes of all views, and what they must see; a second look where samples turn out to lack views."""
        similarities, presence = self._similarities(views), None
        while True:
            sizes = [views.n_samples] * views.n_views if presence is None else presence.sizes.tolist()
            recipes = [
                recipe_of(one, name, size, self.n_clusters)
                for one, name, size in zip(similarities, views.names, sizes, strict=True)
            ]
            wanted = [[one.rows, *self._rows_to_see(views)] for one in recipes]
            found = survey(views, wanted, subset, presence=presence)
            if presence is not None or not found.presence.has_holes:
                return recipes, found
            presence = found.presence
            check_presence(views.names, presence, self.n_clusters)
            self._accept_holes(views, presence)

    def _accept_holes(self, views: ChunkedViews, presence: Presence) -> None:
        """Remember which samples lack views, or refuse them."""
        if self.missing != "zero":
            raise lacking_views(
                views.names,
                presence,
                f"missing={self.missing!r} would fill in rows of partitions by those of other samples, which are not "
                f"in memory. Use missing='zero'",
            )
        self._remember_holes(views)

    def _projections(
        self, views: ChunkedViews, found: Survey, features: RowFeatures, products: Products
    ) -> NDArray[np.float64]:
        """What turns rows of Φ into rows of all base partitions and, last, of the mean similarity's."""
        xp, precision = namespace(products.totals), float(np.finfo(views.dtype).eps)
        projection = gram_projections(products.weighed(-1.0), features.edges, self.n_clusters, precision, xp=xp)
        if not features.holes:
            return projection
        own = gram_projections(products.gram, features.edges, self.n_clusters, precision, xp=xp)
        width = self.n_clusters * views.n_views
        projection[:, :width] = own[:, :width] * np.repeat(
            np.sqrt(found.presence.sizes / views.n_samples), self.n_clusters
        )
        return projection

    def _rows_to_see(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        """Rows that the survey has to bring for the weighting."""
        return []

    def _solve_chunked(self, sums: Sums) -> tuple[Partitions, SolverResult, RowMap]:
        """Solve the alignment and store it; partitions without rows, the solution, and how consensus rows are made."""
        raise NotImplementedError

    def _store_chunked(
        self, sums: Sums, result: SolverResult, cross: NDArray[np.float64], counts: Any = None
    ) -> Partitions:
        """Everything that is small; ``cross`` holds [H_1 | … | M]ᵀF. Returns the partitions without rows."""
        views, features, k, m = sums.views, sums.features, self.n_clusters, sums.views.n_views
        own, shares = zip(*view_projections(sums.projection, features.edges, k), strict=True)
        dtypes = [array.dtype for array in views.arrays]
        blocks = [
            Block(view, "given", Unchanged(), extension, one.astype(dtype))
            for view, (extension, one, dtype) in enumerate(zip(features.extensions, own, dtypes, strict=True))
        ]
        small = [one.astype(dtype) for one, dtype in zip(shares, dtypes, strict=True)]
        partitions = partitions_with_mean(blocks, (), np.empty((0, k), dtype=views.dtype), small, counts=counts)
        self._store_result(partitions, result)
        self.__dict__.pop("_partitions", None)  # of an earlier fit in memory
        cosines = [np.linalg.svd(one, compute_uv=False).sum() / k for one in np.split(cross, m + 1)]
        self.agreement_ = np.minimum(1.0, cosines[:-1])
        together = lazy_map(views, sums.own, "partitions", width=m * k, dtype=views.dtype)
        self.partitions_ = [together[:, p * k : (p + 1) * k] for p in range(m)]
        return partitions


class GlobalAlignmentClustering(_ChunkedAlignment, estimators.GlobalAlignmentClustering):
    """`latefusion.GlobalAlignmentClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `novelty_`, `partitions_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything else is small and
    concrete, and `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    Work is done by the active client of Dask, or by its default scheduler where there is none. Kernels go through a
    factor and graphs through anchors, as in memory beyond 6000 and 10 000 samples: from there on labels are those of
    the class in memory on the same views, whatever the chunks.

    A sample lacks a view where its row there is nothing but NaN, or the mask of `latefusion.Views` says so; with
    ``missing="zero"`` it is clustered by the others, as in memory. The `agreement_` of a view that samples lack is
    taken from the sampled rows, 20 000 or more.

    Fitting reads the views three times: for column means and some sampled rows, for the inner products of features, and
    for the consensus rows, on which k-means runs. These are kept in the memory of the workers where they need no more
    than a quarter of it; otherwise every iteration of k-means reads the views once more. Samples that lack views cost
    one more pass, and so do more anchors, which a graph with more components than clusters gets. Labels, when they are
    asked for, cost one.

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

    def _solve_chunked(self, sums: Sums) -> tuple[Partitions, SolverResult, RowMap]:
        views, features, products = sums.views, sums.features, sums.products
        width = self.n_clusters * views.n_views
        own, mean = sums.projection[:, :width], sums.projection[:, width:]
        between = own.T @ products.weighed(-0.5) @ mean
        narrow = np.block([[own.T @ products.gram @ own, between], [between.T, mean.T @ products.weighed(-1.0) @ mean]])
        result = self._solve(*compress_products(narrow, self.n_clusters, xp=namespace(narrow)), self.regularization)
        mixing = np.concatenate(list(result.mixing))  # (m + 1) k × k
        partitions = self._store_chunked(sums, result, narrow @ mixing)
        if not features.holes:
            return partitions, result, ProjectedRows(features, (sums.projection @ mixing).astype(views.dtype))
        rows = ProjectedRows(
            features, (own @ mixing[:width]).astype(views.dtype), (mean @ mixing[width:]).astype(views.dtype)
        )
        # Agreement on the samples that have the view: of the drawn ones, for views that are missing for others.
        seen, consensus = observed([one.drawn for one in sums.found.views]), sums.drawn(rows)
        drawn = np.split(sums.drawn(sums.own), views.n_views, axis=1)
        for view in np.flatnonzero(sums.found.presence.sizes < views.n_samples):
            self.agreement_[view] = observed_agreement(drawn[view], consensus, seen, int(view))
        return partitions, result, rows


class LocalAlignmentClustering(_ChunkedAlignment, estimators.LocalAlignmentClustering):
    """`latefusion.LocalAlignmentClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `novelty_`, `partitions_`, `neighbor_counts_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything
    else is small and concrete, and `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    As `latefusion.distributed.GlobalAlignmentClustering`, with one more pass, in which neighbours are counted. Counts
    come from sampled neighbourhoods, ``count_samples`` or 512 of them, also where there are few samples. Samples that
    lack views are refused.
    """

    def _rows_to_see(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        return list(draw_samples(views.n_samples, self.count_samples))

    def _accept_holes(self, views: ChunkedViews, presence: Presence) -> None:
        raise lacking_views(
            views.names,
            presence,
            "neighbours are counted among samples that have all views. Use GlobalAlignmentClustering",
        )

    def _solve_chunked(self, sums: Sums) -> tuple[Partitions, SolverResult, RowMap]:
        views, found, features = sums.views, sums.found, sums.features
        k, m, n_samples = self.n_clusters, views.n_views, views.n_samples
        samples, judges = self._rows_to_see(views)
        known = [_with_columns(one, found.take(view, samples)) for view, one in enumerate(features.extensions)]
        features = replace(features, extensions=known)
        blocks = [found.take(view, judges) for view in range(m)]
        closeness = (one.closeness(block, own) for one, block, own in zip(known, blocks, features(blocks), strict=True))
        size = neighborhood_size(self.neighborhood, n_samples)
        thresholds = sampled_thresholds(samples, judges, closeness, n_samples=n_samples, n_neighbors=(size,), n_views=m)
        rows = CountedRows(features, sums.projection.astype(views.dtype), thresholds, samples, n_samples)
        counted = counted_products(views, rows)
        width = (m + 1) * k
        weighed = counted.gram[width:, width:]
        result = self._solve(*compress_products(weighed, k, xp=namespace(weighed)), self.regularization)
        cross = counted.gram[:width, width:] @ np.concatenate(list(result.mixing))
        counts = [
            NeighborCounts(known, own[0], samples, n_samples)
            for known, own in zip(counted.known, thresholds, strict=True)
        ]
        partitions = self._store_chunked(sums._replace(features=features), result, cross, counts)
        self.neighbor_count_error_ = counted.errors / ((m + 1) * n_samples)
        self.neighbor_counts_ = lazy_map(views, rows.counts, "counts", width=m + 1, dtype=np.float64).T
        return partitions, result, replace(rows, mixing=result.mixing)


def _with_columns(extension: Any, rows: Any) -> Any:
    """An extension that knows the rows whose neighbourhoods count."""
    if isinstance(extension.feature_map, LinearMap) and scipy.sparse.issparse(rows):
        rows = rows.toarray()
    return extension.with_columns(rows, np.arange(rows.shape[0]))
