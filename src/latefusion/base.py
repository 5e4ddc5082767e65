"""What all multi-view clusterers share: the one call into validation, and tags."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from latefusion.arrays import lies_elsewhere, namespace, place_of, to_numpy
from latefusion.assignment import assign_by_kmeans
from latefusion.datasets.modalities import is_mudata, modality_views
from latefusion.kernels import KERNELS
from latefusion.metrics import match_labels
from latefusion.partitions import GivenPartition, GraphPartition, KernelPartition, PrecomputedPartition
from latefusion.partitions.label_coding import LabelCoding
from latefusion.types import Views
from latefusion.validation import (
    check_cross_kernel,
    check_holes,
    check_kernel,
    check_n_clusters,
    check_new_views,
    check_same_place,
    check_some_view,
    check_view,
    check_views,
    columns_of,
    is_collection,
    is_frame,
    refuse_single_columns,
    split_columns,
)
from latefusion.validation.frames import frame_to_array
from latefusion.validation.labels import code_label_views, fit_label_codings
from latefusion.validation.views import (
    adopt_names,
    check_magnitude,
    check_new_columns,
    check_not_constant,
    frame_columns,
)

logger = logging.getLogger("latefusion")

# Starts of k-means for the clusters of a single view.
OPINION_STARTS = 3

PARTITIONS = ("auto", "kernel", "graph", "precomputed", "labels")

BASE_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "views": [Mapping, list, tuple, None],
    "partition": [StrOptions(set(PARTITIONS)), HasMethods("similarity"), list, tuple, Mapping],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    **BASE_CONSTRAINTS,
    "kernel": [StrOptions(set(KERNELS)), callable],
    "kernel_params": [Mapping, None],
}


class MultiViewClusterMixin(ClusterMixin):
    """Input handling of a multi-view clusterer: any kind of X becomes checked `Views`, at fit and later alike."""

    def _fit_views(self, X: Any, *, n_clusters: int | None = None) -> Views:
        """Checked views of the training samples; remembers their names, widths and columns."""
        X = modality_views(X) if is_mudata(X) else X
        views = self._read(X, reset=True)
        if len(views) < 2:
            raise ValueError("Clustering needs at least 2 samples, got n_samples=1.")
        sought = self.n_clusters if n_clusters is None else n_clusters
        if views.mask is not None:
            check_holes(views, sought)
        kinds = self._view_kinds(views)
        self._check_devices(views, kinds)
        self._place, self._dtype = place_of(views.arrays[0]), views.arrays[0].dtype
        arrays = []
        for position, (name, array) in enumerate(views.items()):
            observed = None if views.mask is None else views.mask[:, position]
            if kinds[position] == "precomputed":
                arrays.append(_check_observed_kernel(array, name, observed))
            else:
                check_not_constant(array if observed is None else array[observed], name)
                arrays.append(array)
        if "precomputed" in kinds:
            views = Views(arrays, views.names, views.mask, views.sample_ids)
        check_n_clusters(sought, len(views))
        self._n_samples = len(views)
        self.view_names_ = np.array(views.names, dtype=object)
        self.n_views_ = views.n_views
        self.n_features_per_view_ = np.array(views.widths)
        self.view_columns_: dict[str, list[Any]] = {}
        if is_collection(X):
            self.n_features_in_ = int(sum(views.widths))
            self.view_columns_ = frame_columns(X)
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit on one table
        self.observed_ = views.observed
        self.n_observed_views_ = self.observed_.sum(axis=1, dtype=np.intp)
        self._mask = None if views.mask is None or views.mask.all() else views.mask
        self.__dict__.pop("sample_ids_", None)
        if views.sample_ids is not None:
            self.sample_ids_ = views.sample_ids
        return views

    def new_views(self, X: Any) -> Views:
        """Checked views of samples, in the order of the training views.

        Parameters
        ----------
        X : as in `fit`
            New samples, or those of the training.

        Returns
        -------
        Views
        """
        check_is_fitted(self)
        estimator, names = type(self).__name__, tuple(self.view_names_)
        columns: dict[str, list[Any]] = {}
        X = modality_views(X) if is_mudata(X) else X
        if is_collection(X):
            X = adopt_names(X, names, precomputed=self._is_precomputed())
            columns = frame_columns(X)
        widths = None
        if self._accepts_missing_views() and isinstance(
            X, (Mapping, Views)
        ):  # without names, who knows which are absent
            widths = dict(zip(names, map(int, self.n_features_per_view_), strict=True))
        views = check_new_views(self._read(X, reset=False), names, estimator, widths)
        check_same_place(views, self._place, estimator)
        arrays = []
        for name, array, width, kind in zip(
            names, views.arrays, self.n_features_per_view_, self.view_inputs_, strict=True
        ):
            if kind == "precomputed":
                arrays.append(check_cross_kernel(array, name, int(width)))
            else:
                check_new_columns(array, name, int(width), estimator, columns.get(name), self.view_columns_.get(name))
                if lies_elsewhere(array):  # where products of two float types may be an error
                    array = namespace(array).astype(array, self._dtype, copy=False)
                arrays.append(array)
        return Views(arrays, names, views.mask, views.sample_ids)

    def _read(self, X: Any, *, reset: bool) -> Views:
        if self.views is None:
            refuse_single_columns(X)
        if is_collection(X):
            if self.views is not None:
                raise ValueError(
                    "views= splits the columns of one table, but X already consists of views: leave one out."
                )
            X = self._code_labels(X, reset=reset)
            views = check_views(
                X,
                precomputed=self._is_precomputed(),
                holes=self._accepts_missing_views(),
                columns=None if reset else self._training_columns(),
            )
        else:
            self.label_codings_: dict[str, LabelCoding] = {}
            views = self._read_table(X, reset=reset)
        for name, array in views.items():
            check_magnitude(array, name)
        if views.mask is not None:
            check_some_view(views)
        if views.mask is not None and not views.mask.all() and not self._accepts_missing_views():
            missing = {name: int(n) for name, n in zip(views.names, (~views.mask).sum(axis=0), strict=True) if n}
            raise ValueError(
                f"{type(self).__name__} needs every sample in every view, but some are missing: {missing}. Keep the "
                f"complete samples, or use a method for incomplete views such as LateFusionClustering."
            )
        return views

    # Whether a view may hold the labels of a clustering.
    _accepts_labels: ClassVar[bool] = False

    def _code_labels(self, X: Any, *, reset: bool) -> Any:
        """Views that are labels become columns of numbers; their names are remembered for new samples."""
        if reset:
            self.label_codings_ = fit_label_codings(X, self.partition)
            if self.label_codings_ and not self._accepts_labels:
                raise ValueError(
                    f"{type(self).__name__} takes no views of labels, but {list(self.label_codings_)} hold labels. Use "
                    f"ConsensusClustering, GlobalAlignmentClustering or LateFusionClustering, or drop them."
                )
        return code_label_views(X, self.label_codings_)

    def _partition_specs(self, views: Views) -> list[Any]:
        """What `partition` says of every view; one that holds labels and says so itself needs no mention."""
        specs = per_view(self.partition, views, "partition")
        return [
            "labels" if name in self.label_codings_ and not isinstance(spec, GivenPartition) else spec
            for name, spec in zip(views.names, specs, strict=True)
        ]

    def _training_columns(self) -> dict[str, NDArray[np.bool_]] | None:
        """Where kernels of new samples are read: not in the columns of training samples that lack the view."""
        if self._mask is None or "precomputed" not in self.view_inputs_:
            return None
        return dict(zip(map(str, self.view_names_), self._mask.T, strict=True))

    def _read_table(self, X: Any, *, reset: bool) -> Views:
        columns = columns_of(X) if is_frame(X) else None
        if columns is not None:
            frame_to_array(X, "X")
        if isinstance(X, np.ma.MaskedArray):  # scikit-learn would read what is hidden
            X = np.ma.filled(X.astype(np.float64), np.nan)
        if lies_elsewhere(X):
            table = check_view(X, "X")
            if reset:
                self.n_features_in_ = int(table.shape[1])
            return split_columns(table, self.views, None)
        holes = self.views is not None and self._accepts_missing_views()
        table = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=1,
            ensure_all_finite=not holes,
            reset=reset,
        )
        # The old sparse matrices turn into np.matrix in sums with arrays.
        views = split_columns(csr_array(table) if issparse(table) else table, self.views, columns)
        return check_views(views, holes=True) if holes else views

    def view_partitions(self) -> list[NDArray[Any] | None]:
        """The base partitions of every view, side by side where a view has several.

        Returns
        -------
        list of ndarray of shape (n_samples, n_columns), or None
            None for views of which the method keeps none.
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
        """What every view says on its own: k-means on its base partitions.

        Returns
        -------
        ndarray of shape (n_samples, n_views)
            Clusters are numbered like those of the consensus that they are most like, in the sorted order of `labels_`;
            -1 where a sample lacks the view, or the view has fewer samples than there are clusters.
        """
        values, labels = np.unique(to_numpy(self.labels_), return_inverse=True)
        found = np.full((len(labels), self.n_views_), -1, dtype=np.intp)
        for view, rows in enumerate(self.view_partitions()):
            have = self.observed_[:, view]
            if rows is not None and np.count_nonzero(have) >= max(2, len(values)):
                alone, _ = assign_by_kmeans(rows[have], len(values), n_init=OPINION_STARTS, random_state=0)
                found[have, view] = match_labels(labels[have], alone)
        return found

    def _is_precomputed(self) -> bool:
        """Whether all views are kernels."""
        return isinstance(self.partition, PrecomputedPartition) or self.partition == "precomputed"

    # How kernels of features are computed: the method of `KernelPartition`.
    _kernel_method: ClassVar[str] = "auto"

    # Whether views may lie on a device; the kinds of partition below need NumPy in any case.
    _accepts_devices: ClassVar[bool] = False

    def _check_devices(self, views: Views, kinds: list[str]) -> None:
        """Refuse views on a device where the method or the kind of partition works on NumPy arrays only."""
        specs = self._partition_specs(views)
        for (name, array), spec, kind in zip(views.items(), specs, kinds, strict=True):
            if not lies_elsewhere(array):
                continue
            where = f"View {name!r} lies in {place_of(array)}, but"
            if not self._accepts_devices:
                raise ValueError(
                    f"{where} {type(self).__name__} works on NumPy arrays. Move the views to NumPy first (view.cpu()."
                    f"numpy() in torch, view.get() in CuPy)."
                )
            given = isinstance(spec, GivenPartition)
            if kind == "precomputed" or spec == "graph" or given or isinstance(spec, GraphPartition):
                what = "kernels that are given" if kind == "precomputed" else "nearest-neighbour graphs"
                what = "partitions that are given" if given else what
                raise ValueError(
                    f"{where} {what} need NumPy arrays, got partition={spec!r}. Use partition='kernel', which computes "
                    f"a factor of the kernel where the data lie, or move the views to NumPy first."
                )

    def _accepts_missing_views(self) -> bool:
        return False

    def _view_kinds(self, views: Views) -> list[str]:
        """For every view "precomputed" or "features"; also remembered for new samples."""
        specs = self._partition_specs(views)
        kinds = [
            "precomputed" if isinstance(spec, PrecomputedPartition) or spec == "precomputed" else "features"
            for spec in specs
        ]
        self.view_inputs_ = kinds
        return kinds

    def _similarities(self, views: Views) -> list[Any]:
        """One similarity object per view, from the parameters `partition`, `kernel`, `kernel_params`."""
        return [self._similarity(spec) for spec in self._partition_specs(views)]

    def _similarity(self, spec: Any) -> Any:
        if hasattr(spec, "similarity"):
            return spec
        if spec in ("auto", "kernel"):
            return KernelPartition(self.kernel, kernel_params=self.kernel_params, method=self._kernel_method)
        if spec == "graph":
            return GraphPartition()
        if spec == "precomputed":
            return PrecomputedPartition()
        if spec == "labels":
            return GivenPartition("labels")
        raise ValueError(f"partition must be one of {list(PARTITIONS)} or have a method `similarity`, got {spec!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


def _check_observed_kernel(kernel: Any, name: str, observed: NDArray[np.bool_] | None) -> NDArray[Any]:
    """A kernel whose observed part is checked; the rest is zero."""
    if observed is None or observed.all() or kernel.shape[0] != kernel.shape[1]:
        return check_kernel(kernel, name)
    rows = np.flatnonzero(observed)
    part = check_kernel(kernel[rows][:, rows], name)
    whole = np.zeros(kernel.shape, dtype=part.dtype)
    whole[np.ix_(rows, rows)] = part
    return whole


def per_view(parameter: Any, views: Views, name: str) -> list[Any]:
    """The value of a parameter for every view: the same for all, one per view in order, or by view name."""
    if isinstance(parameter, Mapping):
        unknown = [key for key in parameter if key not in views.names]
        absent = [key for key in views.names if key not in parameter]
        if unknown or absent:
            raise ValueError(
                f"{name} must name every view once; unknown: {unknown}, without a value: {absent}. The views are "
                f"{list(views.names)}."
            )
        return [parameter[key] for key in views.names]
    if isinstance(parameter, (list, tuple)):
        if len(parameter) != views.n_views:
            raise ValueError(f"{name} has {len(parameter)} entries for {views.n_views} views: give one per view.")
        return list(parameter)
    return [parameter] * views.n_views


def warn_not_converged(name: str, max_iter: int, advice: str = "Raise max_iter or tol.") -> None:
    """One sentence for every method that stopped at its cap."""
    warnings.warn(f"{name} did not converge in {max_iter} iterations. {advice}", ConvergenceWarning, stacklevel=3)
