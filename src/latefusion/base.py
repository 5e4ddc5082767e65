"""Base class of all multi-view clusterers: validation of the input, similarities, and tags."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import is_device_array, to_numpy
from latefusion.assignment import ASSIGNMENTS, assign_by_kmeans
from latefusion.encoding.columns import Column
from latefusion.kernels import KERNELS
from latefusion.metrics import match_labels
from latefusion.similarities import GivenPartition, GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.summaries import SummaryMixin
from latefusion.types import Views
from latefusion.validation import InputRules, InputSchema, is_precomputed, open_views, per_view, read_tables, read_views
from latefusion.validation.hints import Hints, read_hints
from latefusion.validation.opening import parts
from latefusion.validation.sample_ids import sample_index, shown_list

logger = logging.getLogger("latefusion")

# Starts of k-means for the clustering of a single view.
VIEW_STARTS = 3

SIMILARITIES_BY_NAME = ("auto", "kernel", "graph", "precomputed", "labels")

BASE_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "views": [Mapping, list, tuple, StrOptions({"auto"}), None],
    "similarity": [StrOptions(set(SIMILARITIES_BY_NAME)), HasMethods("similarity"), list, tuple, Mapping],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    **BASE_CONSTRAINTS,
    "kernel": [StrOptions(set(KERNELS)), callable],
    "kernel_params": [Mapping, None],
}
ITERATION_CONSTRAINTS: dict[str, list[Any]] = {
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}
ALIGNMENT_CONSTRAINTS: dict[str, list[Any]] = {
    **ITERATION_CONSTRAINTS,
    "regularization": [Interval(Real, 0, None, closed="left")],
    "assign_labels": [StrOptions(set(ASSIGNMENTS))],
    "n_init": BASE_CONSTRAINTS["n_init"],
    "random_state": ["random_state"],
}
# Parameters of estimators that take tables of any columns.
TABLE_CONSTRAINTS: dict[str, list[Any]] = {
    "column_kinds": [Mapping, None],
    "encoders": [Mapping, HasMethods(["fit", "transform"]), None],
    "missing_values": [object],
    "missing_columns": [StrOptions({"error", "allow"})],
}
TABLE_PARAMETERS = tuple(TABLE_CONSTRAINTS)
FUSION_CONSTRAINTS: dict[str, list[Any]] = {
    **KERNEL_CONSTRAINTS,
    "view_weights": [Mapping, list, tuple, np.ndarray, None],
    **TABLE_CONSTRAINTS,
    **ALIGNMENT_CONSTRAINTS,
    "missing": [StrOptions({"impute", "zero"})],
    "init": [StrOptions({"align", "identity"})],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class MultiViewClusterMixin(SummaryMixin, ClusterMixin):
    """Mixin of multi-view clusterers: converts the input to checked `Views`, in `fit` and for new samples."""

    # Whether a view may contain cluster labels.
    _accepts_labels: ClassVar[bool] = False

    # Whether views may be missing for some samples.
    accepts_missing_views: ClassVar[bool] = False

    # Whether graphs of arrays on a device are supported.
    _graphs_on_device: ClassVar[bool] = False

    # How kernels of features are computed: the method of `KernelSimilarity`.
    _kernel_method: ClassVar[str] = "auto"

    def _numpy_only(self) -> str:
        """Why views on a device are not supported; empty if they are."""
        return f"{type(self).__name__} works on NumPy arrays."

    def _input_rules(self, n_clusters: int | None = None) -> InputRules:
        return InputRules(
            type(self).__name__,
            self.views,
            self.similarity,
            self.accepts_missing_views,
            self._accepts_labels,
            self._numpy_only(),
            self.n_clusters if n_clusters is None else n_clusters,
            graphs_on_device=self._graphs_on_device,
            **{name: getattr(self, name) for name in TABLE_PARAMETERS if hasattr(self, name)},
        )

    def _fit_views(self, X: Any, *, n_clusters: int | None = None) -> Views:
        """Checked views of the training samples; stores the schema for new samples."""
        views, schema = read_views(X, self._input_rules(n_clusters))
        self._store_input(schema, views.observed, views.sample_ids)
        self._mask = None if views.mask is None or views.mask.all() else views.mask
        return views

    def _read_hints(self, y: Any, must_link: Any, cannot_link: Any, views: Views, most: int) -> Hints | None:
        """Checked hints about the training samples, with no more classes than there can be clusters."""
        hints = read_hints(y, must_link, cannot_link, len(views), getattr(self, "sample_ids_", None))
        if hints is None:
            return None
        if any(is_device_array(array) for array in views.arrays):
            raise ValueError("Hints require NumPy arrays, but the views are on a device. Copy them to the CPU.")
        if len(hints.classes) > most:
            raise ValueError(
                f"y contains {len(hints.classes)} classes ({shown_list(hints.classes.tolist())}), but there are at "
                f"most {most} clusters. Raise n_clusters, or merge classes."
            )
        return hints

    def new_views(self, X: Any, *, keep_gaps: bool = False) -> Views:
        """Checked views of samples, in the order of the training views.

        Parameters
        ----------
        X : as in `fit`
            New samples, or those of the training.
        keep_gaps : bool, default=False
            Whether missing values stay NaN. By default they are imputed.

        Returns
        -------
        Views
        """
        check_is_fitted(self)
        schema = self.input_schema_.keeping_gaps() if keep_gaps else self.input_schema_
        return read_views(X, self._input_rules(), schema)[0]

    def given_views(self, X: Any) -> Views:
        """The views as given, without a conversion to numbers, in the order of the samples of `new_views`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        Views
            Samples can be selected by row.
        """
        check_is_fitted(self)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `new_views` gives them
            return open_views(X, self._input_rules(), self.input_schema_)

    def table_columns(self, X: Any) -> dict[str, dict[str, Column]]:
        """The columns of views that are tables, as given, for results in the terms of the user.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        dict of str to dict of str to Column
            By view and column, in the order of the samples of `new_views`.
        """
        check_is_fitted(self)
        if "table" not in self.input_schema_.kinds:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `new_views` gives them
            return read_tables(X, self._input_rules(), self.input_schema_)

    def _store_input(self, schema: InputSchema, observed: Any, sample_ids: NDArray[Any] | None = None) -> None:
        self.input_schema_ = schema
        self.view_names_ = np.array(schema.names, dtype=object)
        self.n_views_ = len(schema.names)
        self.n_features_per_view_ = np.array(schema.widths)
        self.n_features_in_ = schema.n_features
        self.observed_ = observed
        self.n_observed_views_ = observed.sum(axis=1, dtype=np.intp)
        store_if_any(self, feature_names_in_=schema.feature_names, sample_ids_=sample_ids)

    @property
    def view_inputs_(self) -> tuple[str, ...]:
        """Kind of input of every view: "features", "table", "precomputed" or "labels"."""
        return self.input_schema_.kinds

    @property
    def column_kinds_(self) -> dict[str, dict[str, str]]:
        """Kind of every column of views that are tables, such as "category", or why it is left out, such as "id"."""
        check_is_fitted(self)
        return {view.name: view.table.kinds for view in self.input_schema_.views if view.table is not None}

    def _similarity_specs(self, views: Any) -> list[Any]:
        """The `similarity` of every view; it is "labels" for views that contain labels, such as text."""
        specs = per_view(self.similarity, views.names, "similarity", default="auto")
        for spec in specs:
            if not hasattr(spec, "similarity") and spec not in SIMILARITIES_BY_NAME:
                known = list(SIMILARITIES_BY_NAME)
                raise ValueError(f"similarity must be one of {known} or have a method `similarity`; got {spec!r}.")
        return [
            "labels" if kind == "labels" and not isinstance(spec, GivenPartition) else spec
            for kind, spec in zip(self.view_inputs_, specs, strict=True)
        ]

    def view_partitions(self) -> list[NDArray[Any] | None]:
        """The base partitions of every view, side by side where a view has several.

        Returns
        -------
        list of ndarray of shape (n_samples, n_columns), or None
            None for views without stored partitions.
        """
        check_is_fitted(self)
        partitions = [to_numpy(one) for one in getattr(self, "partitions_", None) or ()]
        if not partitions:
            return [None] * self.n_views_
        names = getattr(self, "partition_names_", [(name, "") for name in self.view_names_])
        own = [
            [one for one, (view, _) in zip(partitions, names, strict=True) if view == name] for name in self.view_names_
        ]
        return [np.concatenate(one, axis=1) if one else None for one in own]

    def view_labels(self) -> NDArray[np.intp]:
        """Clusterings of the single views: k-means on the base partitions of each view.

        Returns
        -------
        ndarray of shape (n_samples, n_views)
            Clusters have the numbers of the most similar consensus clusters, in the sorted order of `labels_`; -1 if
            the view is missing for the sample, or if the view has fewer samples than there are clusters.
        """
        values, labels = np.unique(to_numpy(self.labels_), return_inverse=True)
        found = np.full((len(labels), self.n_views_), -1, dtype=np.intp)
        for view, rows in enumerate(self.view_partitions()):
            have = self.observed_[:, view]
            if rows is not None and np.count_nonzero(have) >= max(2, len(values)):
                alone, _ = assign_by_kmeans(rows[have], len(values), n_init=VIEW_STARTS, random_state=0)
                found[have, view] = match_labels(labels[have], alone)
        return found

    def _prior_weights(self) -> NDArray[np.float64]:
        """The factors c_p of the views that the user gave, one on average."""
        given = np.ones(self.n_views_)
        if self.view_weights is not None:
            weights = self.view_weights if isinstance(self.view_weights, Mapping) else list(self.view_weights)
            given = np.asarray(per_view(weights, list(self.view_names_), "view_weights", default=1.0), dtype=np.float64)
        if not np.all(np.isfinite(given)) or given.min() <= 0:
            raise ValueError(
                f"view_weights must be positive numbers; got {self.view_weights!r}. To exclude a view, leave it out "
                f"of X."
            )
        return given / given.mean()

    def _similarities(self, views: Any) -> list[Any]:
        """One similarity object per view, from the parameters `similarity`, `kernel`, `kernel_params`."""
        return [self._similarity(spec) for spec in self._similarity_specs(views)]

    def _similarity(self, spec: Any) -> Any:
        if hasattr(spec, "similarity"):
            return spec
        if spec in ("auto", "kernel"):
            return KernelSimilarity(self.kernel, kernel_params=self.kernel_params, method=self._kernel_method)
        if spec == "graph":
            return GraphSimilarity()
        return PrecomputedSimilarity() if spec == "precomputed" else GivenPartition("labels")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.pairwise = is_precomputed(self.similarity)
        return tags


def store_if_any(estimator: Any, **attributes: Any) -> None:
    """Set the attributes that are not None, and remove the others, which an earlier fit may have set."""
    for name, value in attributes.items():
        estimator.__dict__.pop(name, None)
        if value is not None:
            setattr(estimator, name, value)


def with_sample_ids(estimator: Any, rows: Any, X: Any, ids: NDArray[Any] | None) -> Any:
    """Rows, as a data frame with the sample ids as index if pandas was selected by `set_output`."""
    if ids is None or _get_output_config("transform", estimator)["dense"] != "pandas":
        return rows
    pandas: Any = importlib.import_module("pandas")
    return pandas.DataFrame(to_numpy(rows), index=sample_index(parts(X), ids))


def warn_not_converged(name: str, max_iter: int, advice: str = "Raise max_iter or tol.") -> None:
    """Warn that a method stopped at ``max_iter``."""
    warnings.warn(f"{name} did not converge in {max_iter} iterations. {advice}", ConvergenceWarning, stacklevel=3)
