"""Input and output of the chunked estimators: chunked views in, lazy rows out, all small results in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask import is_dask_collection
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from latefusion.assignment.kmeans import draw_subset
from latefusion.base import MultiViewClusterMixin, warn_not_converged
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.first_pass import FirstPass, observed
from latefusion.distributed.labels import fit_rule, lazy_labels
from latefusion.distributed.passes import RowMap, find_scheduler, lazy_rows
from latefusion.distributed.prediction import predict, predict_proba, transform
from latefusion.distributed.stores import chunked_views, is_chunked
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.memberships import known_shares
from latefusion.estimators.new_samples import NewSamplesMixin, weigh_confidence
from latefusion.estimators.novelty import Novelty, fit_novelty
from latefusion.types import Array, Views
from latefusion.validation import InputSchema, ViewSchema, check_n_clusters
from latefusion.validation.hints import has_hints

# Largest size in bytes of the rows on which the starts of k-means compete; they are sent to the client.
SUBSET_BYTES = 2**28


class ChunkedMixin(NewSamplesMixin, MultiViewClusterMixin):
    """Input and output of an estimator for chunked views; views in memory are passed on to the class in memory."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Any:
        """Cluster the samples.

        Parameters
        ----------
        X : list or dict of chunked views, or one of them
            Dask arrays or data frames, Zarr arrays, memory-mapped arrays, or paths of Zarr stores, Parquet folders and
            ``.npy`` files, with the same rows in any chunks. If all views are in memory, the fit is, too.
        y, must_link, cannot_link : as in memory
            Hints, only if all views are in memory.

        Returns
        -------
        self
        """
        if not is_chunked(X):
            return super().fit(X, y, must_link=must_link, cannot_link=cannot_link)
        if has_hints(y, must_link, cannot_link):
            raise ValueError(
                f"{type(self).__name__} does not support hints (y with unknown classes, must_link, cannot_link) for "
                f"chunked views. Fit some of the samples in memory with hints, and predict the others."
            )
        fitted = copy(self)  # this estimator stays unchanged if the fit fails
        fitted._fit_chunked(X)
        self.__dict__ = fitted.__dict__
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def transform(self, X: Any, *, diagonals: Sequence[Any] | Mapping[str, Any] | None = None) -> Any:
        """Consensus rows of new samples: a lazy Dask array for chunked samples, otherwise a NumPy array.

        Parameters
        ----------
        X : as in `fit`
        diagonals : sequence or mapping, default=None
            For precomputed kernels in memory.

        Returns
        -------
        dask.array.Array or ndarray of shape (n_new, n_clusters)
        """
        return transform(self, X) if is_chunked(X) else super().transform(X, diagonals=diagonals)

    def predict(self, X: Any, **options: Any) -> Any:
        """Labels of new samples: a lazy Dask array for chunked samples, otherwise a NumPy array.

        Parameters
        ----------
        X : as in `fit`
        **options : keyword arguments
            As in memory: ``diagonals``, ``return_confidence``, ``return_novelty``.

        Returns
        -------
        dask.array.Array or ndarray of shape (n_new,), or a tuple of these
        """
        return predict(self, X, **options) if is_chunked(X) else super().predict(X, **options)

    def predict_proba(self, X: Any, *, diagonals: Sequence[Any] | Mapping[str, Any] | None = None) -> Any:
        """Memberships of new samples: a lazy Dask array for chunked samples, otherwise a NumPy array.

        A model that was fitted on chunked views needs `calibrate_memberships` with some thousand samples in memory
        before.

        Parameters
        ----------
        X : as in `fit`
        diagonals : sequence or mapping, default=None
            For precomputed kernels in memory.

        Returns
        -------
        dask.array.Array or ndarray of shape (n_new, n_clusters)
        """
        return predict_proba(self, X) if is_chunked(X) else super().predict_proba(X, diagonals=diagonals)

    @property
    def memberships_(self) -> Any:
        """Memberships of the training samples in all clusters: a lazy Dask array if they are chunked."""
        if not is_dask_collection(vars(self).get("consensus_")):
            return super().memberships_
        membership, weights = self.calibration_.membership, np.asarray(self.view_weights_)
        return da.blockwise(
            partial(_memberships, self.consensus_map_.rule, membership, weights),
            "ik",
            self.consensus_,
            "ij",
            self.observed_,
            "iv",
            new_axes={"k": self._n_features_out},
            concatenate=True,
            dtype=np.float64,
            meta=np.empty((0, 0)),
        )

    def in_memory(self) -> Any:
        """The fitted model as an estimator of `latefusion`, to be saved or used without Dask.

        Returns
        -------
        estimator
            Without lazy attributes, such as `labels_`; it can label new samples.
        """
        check_is_fitted(self)
        kind = next(one for one in type(self).__mro__ if one.__module__.startswith("latefusion.estimators."))
        model = kind(**self.get_params(deep=False))
        model.__dict__.update({name: value for name, value in vars(self).items() if not _is_lazy(value)})
        return model

    def _read_chunked(self, X: Any, least_clusters: int) -> ChunkedViews:
        """Chunked views of the training samples; stores their names, widths and columns."""
        scheduler = find_scheduler()
        if self.views is not None:
            raise ValueError(
                "views= splits the columns of one table in memory. Pass chunked views one by one, for instance as "
                "{'first': X[:, :10], 'second': X[:, 10:]}."
            )
        for name in ("column_kinds", "encoders", "missing_values"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name}= requires tables in memory, and chunked views contain numbers only. Encode the columns "
                    f"and impute missing values before, for example by map_partitions, and leave {name} out. Or fit "
                    f"latefusion.{type(self).__name__} with {name}= on a sample of the rows in memory, and predict the "
                    f"other rows in parts."
                )
        views = replace(chunked_views(X), scheduler=scheduler)
        check_n_clusters(least_clusters, views.n_samples)
        described = [
            ViewSchema(name, "features", width, width, views.columns.get(name))
            for name, width in zip(views.names, views.widths, strict=True)
        ]
        schema = InputSchema(tuple(described), views.n_samples, "NumPy", views.arrays[0].dtype)
        self._store_input(schema, da.ones((views.n_samples, views.n_views), dtype=bool, chunks=(views.piece_rows, -1)))
        self._mask = None
        return views

    def _store_lazy_partitions(self, views: ChunkedViews, rows: RowMap, n_partitions: int, n_clusters: int) -> None:
        """Rows of all partitions, as lazy arrays."""
        together = lazy_rows(views, rows, "partitions", width=n_partitions * n_clusters, dtype=views.dtype)
        self.partitions_ = [together[:, p * n_clusters : (p + 1) * n_clusters] for p in range(n_partitions)]

    def _store_rows(
        self,
        first: FirstPass,
        rows: RowMap,
        fitted: ConsensusMap,
        encodings: Sequence[Any],
        generator: Any,
        rule: Any = None,
    ) -> None:
        """Store consensus, labels, confidence and novelty of all samples as lazy arrays, and the fitted map.

        If no rule is given, one is fitted to all consensus rows.
        """
        views, has_missing, n_clusters = first.views, first.observed.has_missing, fitted.coefficients.shape[1]
        full = partial(rows_with_confidence, rows, self.view_weights_) if has_missing else rows
        together = lazy_rows(views, full, "consensus", width=n_clusters + has_missing, dtype=views.dtype)
        self.consensus_ = together[:, :n_clusters] if has_missing else together
        if rule is None:
            drawn = rows(first.drawn_rows, first.drawn).astype(views.dtype, copy=False)
            all_rows = replace(views, names=("consensus of all views",), arrays=(self.consensus_,))
            rule = fit_rule(all_rows, drawn, self.assign_labels, self.n_init, generator)
        self.labels_, self.confidence_ = lazy_labels(rule, self.consensus_)
        if has_missing:
            self.confidence_ = self.confidence_ * together[:, n_clusters]
        references = Views(first.drawn_rows, views.names)
        novelty = fit_novelty(references, encodings, observed(first.drawn_rows) if has_missing else None)
        distances = partial(_novelty_rows, novelty, has_missing)
        self.novelty_ = lazy_rows(views, distances, "novelty", width=None, dtype=np.float64)
        self.consensus_map_ = replace(fitted, rule=rule, novelty=novelty)
        for name in ("calibration_", "_training_views"):  # of an earlier fit
            self.__dict__.pop(name, None)


def _memberships(rule: Any, membership: Any, weights: Any, rows: Any, observed: Any) -> NDArray[np.float64]:
    found: NDArray[np.float64] = membership(rule.scores(rows), known_shares(weights, observed))
    return found


def rows_with_confidence(
    consensus: RowMap, weights: NDArray[np.float64], rows: Sequence[Array], numbers: NDArray[np.intp]
) -> NDArray[Any]:
    """Consensus rows, and last the share of the weight of all views that the observed views of a sample have."""
    shares = weigh_confidence(np.ones(len(numbers)), weights, observed(rows))
    return np.column_stack([consensus(rows, numbers), shares])


def _is_lazy(value: Any) -> bool:
    return any(map(is_dask_collection, value if isinstance(value, list) else [value]))


def _novelty_rows(novelty: Novelty, has_missing: bool, rows: Sequence[Array], numbers: Any) -> NDArray[np.float64]:
    return novelty(Views(list(rows)), observed(rows) if has_missing else None)


def draw_start_rows(views: ChunkedViews, n_clusters: int, generator: np.random.RandomState) -> NDArray[np.intp]:
    """Rows on which the starts of k-means compete: as many as in memory, but fewer of very wide views."""
    rows = draw_subset(views.n_samples, n_clusters, generator)
    size = len(rows) * sum(views.widths) * np.dtype(views.dtype).itemsize
    return rows[:: -(-size // SUBSET_BYTES)]


def mean_cosines(products: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Mean cosine of the principal angles between partitions and the consensus, from their products H_pᵀF."""
    return np.minimum(1.0, [np.linalg.svd(one, compute_uv=False).sum() / len(one) for one in products])
