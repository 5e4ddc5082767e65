"""Views that are clusterings already: labels, memberships, embeddings, or the labels of a fitted clusterer.

Such a view is represented by a subspace: that of all vectors that are constant on its clusters (the span of the
indicator matrix Z), or the span of its columns. The vector of ones is left out, since every clustering contains it:
without it, independent clusterings are orthogonal. The similarity of samples is the projection on that subspace, S =
ΦΦᵀ with orthonormal columns in Φ. For labels it is the normalised co-membership, 1/n_c - 1/n for two samples of a
cluster of n_c and -1/n for others. An unassigned sample has a zero row, and the mean that is subtracted is that of the
assigned samples.

All eigenvalues of a projection are one, so that the leading k of more than k eigenvectors are not unique. The base
partition is the part of the subspace that is nearest to the mean similarity of all views, see `nearest_subspace`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_array

from latefusion.arrays import rounding_threshold, row_blocks
from latefusion.encoding.label_coding import LabelCoding, Unassigned
from latefusion.similarities.factor import Factor, FactorExtension
from latefusion.types import Array

KINDS = ("auto", "labels", "memberships", "embedding")
# Row sums that differ from one by less than this are those of memberships.
UNIT_SUM = 1e-4
# Directions with a smaller share of the largest are rounding error, and so is a smaller share of a column that varies.
ROUNDING = 1e-10
COLUMN_ROUNDING = 1e-13
BLOCK_ENTRIES = 2**21


@dataclass(frozen=True)
class GivenMap:
    """Rows of a given partition to rows of Φ: the columns that describe it, times a small matrix.

    Attributes
    ----------
    weights : ndarray of shape (n_columns, rank)
    kind : {"labels", "memberships", "embedding"}
    coding : LabelCoding or None
        Names of the clusters, for labels.
    clusterer : object or None
        Predicts labels from features.
    name : str
        Of the view, for error messages.
    """

    weights: NDArray[np.float64]
    kind: str
    coding: LabelCoding | None = None
    clusterer: Any = None
    name: str = "given"

    has_unit_rows: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """Number of columns of Φ."""
        return int(self.weights.shape[1])

    @property
    def assigned(self) -> NDArray[np.float64]:
        """The vector whose product with the columns is one for assigned samples and zero for others."""
        if self.coding is not None:
            return np.ones(len(self.weights))
        return _last(len(self.weights))

    def co_membership(self, n_assigned: float) -> NDArray[np.float64]:
        """The matrix whose product with the columns is a factor X of the co-membership XXᵀ.

        For labels and memberships, X are the memberships. An embedding of r directions has the co-membership of r + 1
        clusters of equal sizes in the same subspace, n/(r + 1) times the projection on its directions and the constant.

        Parameters
        ----------
        n_assigned : float
            Number n of training samples that are assigned.

        Returns
        -------
        ndarray of shape (n_columns, n_memberships)
        """
        if self.coding is not None:
            return np.eye(len(self.weights))
        if self.kind == "memberships":
            return np.eye(len(self.weights))[:, :-1]
        directions = np.column_stack([np.sqrt(n_assigned) * self.weights, self.assigned])
        factor: NDArray[np.float64] = directions / np.sqrt(self.width + 1)
        return factor

    def __call__(self, view: Array, diagonal: NDArray[Any] | None = None) -> NDArray[Any]:
        """Rows of Φ; zero for samples that are unassigned."""
        features: NDArray[Any] = self.columns(view) @ self.weights
        precision = getattr(view, "dtype", None)
        return features.astype(precision if precision in (np.float32, np.float64) else np.float64, copy=False)

    def columns(self, rows: Array) -> scipy.sparse.csr_array:
        """The columns that describe the partition, of which Φ is a linear function.

        Indicators of the clusters for labels; else the view's own columns and last the indicator of samples that are
        assigned. The rows of samples that are not are empty.

        Parameters
        ----------
        rows : array-like of shape (n_rows,) or (n_rows, n_features)

        Returns
        -------
        csr_array of shape (n_rows, n_columns)
        """
        if self.coding is not None:
            labels = rows if self.clusterer is None else self.clusterer.predict(rows)
            return indicator(self.coding.codes(labels, self.name), len(self.coding.values))
        return _table_columns(_check_table(rows, self.kind, self.name), self.kind)


def indicator(codes: NDArray[np.intp], n_clusters: int) -> scipy.sparse.csr_array:
    """Z with one column per cluster; rows of samples with the code -1 are empty."""
    assigned = codes >= 0
    starts = np.concatenate([[0], np.cumsum(assigned)])
    shape = (len(codes), n_clusters)
    return scipy.sparse.csr_array((np.ones(starts[-1]), codes[assigned], starts), shape=shape)


@dataclass(frozen=True)
class GivenPartition:
    """A view that is a clustering already.

    Parameters
    ----------
    kind : {"auto", "labels", "memberships", "embedding"}, default="auto"
        What the view holds. Labels: one per sample, of any type. Memberships: one column per cluster, none negative;
        rows are divided by their sums, and a row of zeros is unassigned. Embedding: the subspace that its columns span.
        By default one column is labels, columns whose rows sum to one (or zero) are memberships, and others an
        embedding.
    unassigned : object or list of objects, default=None
        Labels that mark a sample as unassigned, beside None and NaN. By default every negative integer does, as in
        DBSCAN and HDBSCAN; ``[]`` makes them clusters.
    clusterer : object, default=None
        A fitted clusterer with `predict`. The view then holds features, of training and of new samples, and what it
        predicts for them are the labels. Of one without `predict`, pass `labels_` as the view.

    Notes
    -----
    In the mean of all similarities a given partition counts like a graph, whose leading eigenvalues are about one as
    well. A kernel, whose eigenvalues grow with the number of samples, outweighs both in M. `LateFusionClustering`
    brings all of them to one level; in `GlobalAlignmentClustering`, ``regularization=0`` does without M.

    Examples
    --------
    A labelling among features: view "leiden" has one label per sample.

    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=150, n_clusters=3, random_state=0)
    >>> leiden = [f"cluster {label}" for label in data.target]
    >>> views = {"features": data.views.arrays[0], "leiden": leiden}
    >>> similarity = {"features": "graph", "leiden": lf.GivenPartition("labels")}
    >>> model = lf.GlobalAlignmentClustering(3, similarity=similarity, random_state=0).fit(views)
    >>> lf.metrics.clustering_accuracy(leiden, model.labels_)
    1.0
    """

    kind: str = "auto"
    unassigned: Unassigned = None
    clusterer: Any = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {list(KINDS)}, got {self.kind!r}.")
        if self.clusterer is not None and not hasattr(self.clusterer, "predict"):
            raise ValueError(
                f"{type(self.clusterer).__name__} has no method predict, so that it cannot label new samples. Pass its "
                f"labels_ as the view, without clusterer."
            )

    def similarity(self, view: Array, n_clusters: int) -> tuple[Factor, FactorExtension]:
        """The projection on the subspace of the view, as a factor; labels come as one column of numbers."""
        feature_map = self.fit_map(view)
        return Factor(view, feature_map), FactorExtension(feature_map)

    def fit_map(self, view: Any, name: str = "given") -> GivenMap:
        """The map from the view to Φ.

        Parameters
        ----------
        view : array-like of shape (n_samples,) or (n_samples, n_features)
        name : str, default="given"
            Of the view, for error messages.

        Returns
        -------
        GivenMap
        """
        if self.clusterer is not None or self.kind == "labels" or (self.kind == "auto" and _is_column(view)):
            labels = view if self.clusterer is None else self.clusterer.predict(view)
            coding = LabelCoding.of(labels, name, self.unassigned)
            columns = indicator(coding.codes(labels, name), len(coding.values))
            weights = centered_basis(columns, np.ones(columns.shape[1]))
            return GivenMap(weights, "labels", coding, self.clusterer, name)
        kind = _kind_of(view, name) if self.kind == "auto" else self.kind
        columns = _table_columns(_check_table(view, kind, name), kind)
        return GivenMap(centered_basis(columns, _last(columns.shape[1])), kind, name=name)


def _last(length: int) -> NDArray[np.float64]:
    """The last unit vector."""
    vector = np.zeros(length)
    vector[-1] = 1.0
    return vector


def centered_basis(columns: scipy.sparse.csr_array, constant: NDArray[Any]) -> NDArray[np.float64]:
    """The matrix W for which columns · W is an orthonormal basis of their span without a constant.

    Parameters
    ----------
    columns : csr_array of shape (n_samples, n_columns)
    constant : ndarray of shape (n_columns,)
        Columns times this vector is the indicator of assigned samples, which is left out.

    Returns
    -------
    ndarray of shape (n_columns, rank)
        One column of zeros if the span is constant.
    """
    products = (columns.T @ columns).toarray()
    sums = products @ constant
    centered = products - np.outer(sums, sums) / max(float(sums @ constant), 1.0)
    # Columns of equal length, so that small clusters and small features do not count as rounding error.
    varies = np.diagonal(centered) > COLUMN_ROUNDING * np.diagonal(products)
    if not varies.any():
        return np.zeros((len(constant), 1))
    scale = np.where(varies, 1 / np.sqrt(np.where(varies, np.diagonal(centered), 1.0)), 0.0)
    values, vectors = np.linalg.eigh(scale[:, None] * centered * scale)
    present = values > ROUNDING * values[-1]
    basis = scale[:, None] * vectors[:, present] / np.sqrt(values[present])
    weights: NDArray[np.float64] = basis - np.outer(constant, sums @ basis) / float(sums @ constant)
    return weights


def nearest_subspace(factor: Factor, average: NDArray[Any]) -> NDArray[np.float64]:
    """The part of the subspace of Φ that is nearest to the partition of the mean similarity.

    Parameters
    ----------
    factor : Factor
        With orthonormal columns in Φ.
    average : ndarray of shape (n_samples, n_clusters)
        M.

    Returns
    -------
    ndarray of shape (width, n_clusters)
        Q with orthonormal columns that maximises the sum of the cosines between Φ Q and M: the left singular vectors
        of ΦᵀM. Columns beyond its rank are zero.
    """
    products = np.zeros((factor.feature_map.width, average.shape[1]))
    for rows in row_blocks(len(average), max(1, BLOCK_ENTRIES // factor.feature_map.width)):
        products += factor.rows(rows.start, rows.stop).T @ average[rows]
    left, values, _ = np.linalg.svd(products, full_matrices=False)
    nearest = np.zeros_like(products)
    nearest[:, : len(values)] = left * (values > rounding_threshold(np.finfo(average.dtype).eps))
    return nearest


def _is_column(view: Any) -> bool:
    shape = getattr(view, "shape", None)
    if shape is None:
        return len(view) > 0 and not isinstance(view[0], (list, tuple, np.ndarray))
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _kind_of(view: Any, name: str) -> str:
    """Memberships have no negative entries and rows that sum to one, or zero."""
    table = _check_table(view, "embedding", name)
    if table.min() < 0:
        return "embedding"
    sums = np.asarray(table.sum(axis=1)).ravel()
    return "memberships" if np.all((np.abs(sums - 1) < UNIT_SUM) | (sums == 0)) else "embedding"


def _check_table(view: Any, kind: str, name: str) -> Array:
    table = check_array(
        view, accept_sparse="csr", dtype=np.float64, ensure_min_features=1, ensure_all_finite=False, input_name=name
    )
    values = table.data if scipy.sparse.issparse(table) else table
    if not np.isfinite(values).all():
        raise ValueError(
            f"View {name!r} holds {kind} that are NaN or infinite. A sample that is unassigned has a row of zeros."
        )
    if kind == "memberships" and values.size and values.min() < 0:
        raise ValueError(
            f"View {name!r} holds negative memberships, the lowest is {values.min():.4g}: memberships are shares of "
            f"clusters. If it is an embedding, pass kind='embedding'."
        )
    return table


def _table_columns(table: Array, kind: str) -> scipy.sparse.csr_array:
    columns = scipy.sparse.csr_array(table)
    columns.eliminate_zeros()
    if kind == "memberships":
        sums = np.asarray(columns.sum(axis=1)).ravel()
        columns = scipy.sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ columns
    assigned = (np.diff(columns.indptr) > 0).astype(np.float64)
    return scipy.sparse.hstack([columns, scipy.sparse.csr_array(assigned[:, None])], format="csr")
