"""Conversion of arrays, data frames, MuData, kernels and labels to checked `Views`, at fit and for new samples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from latefusion.arrays import device_name, is_device_array, namespace, take_columns
from latefusion.datasets.modalities import is_mudata, modality_views
from latefusion.encoding.label_coding import LabelCoding
from latefusion.similarities import GivenPartition, GraphSimilarity, PrecomputedSimilarity
from latefusion.types import Array, Views
from latefusion.validation.columns import column_groups, reorder_columns
from latefusion.validation.frames import columns_of, frame_to_array, is_frame, select_columns, split_levels
from latefusion.validation.holes import check_holes, check_some_view, loose_views
from latefusion.validation.kernels import check_cross_kernel, check_observed_kernel
from latefusion.validation.labels import label_codes, label_coding
from latefusion.validation.sample_ids import Coordinates, ids_of, index_of, match_rows
from latefusion.validation.views import (
    check_magnitude,
    check_n_clusters,
    check_not_constant,
    check_one_device,
    fingerprint,
    is_collection,
    named_views,
    read_view,
    refuse_single_columns,
)


@dataclass(frozen=True)
class InputRules:
    """The input that an estimator accepts, by its class and parameters.

    Attributes
    ----------
    estimator : str
        Name of its class, for error messages.
    views : mapping, sequence or None
        Columns of every view in one table.
    similarity : object, sequence or mapping
        For all views, one per view in order, or by name.
    missing : bool
        Whether views may be missing for some samples.
    labels : bool
        Whether a view may contain labels.
    numpy_only : str
        Why arrays on a device are refused, as a sentence that follows "but"; empty if they are accepted.
    n_clusters : int or None
        Number of clusters that the training samples must allow.
    """

    estimator: str
    views: Any = None
    similarity: Any = "auto"
    missing: bool = False
    labels: bool = False
    numpy_only: str = ""
    n_clusters: int | None = None


@dataclass(frozen=True)
class InputSchema:
    """Properties of the training input, by which new samples are read.

    Attributes
    ----------
    names : tuple of str
        Of the views.
    kinds : tuple of {"features", "precomputed", "labels"}
        Kind of input of every view.
    widths : tuple of int
        Number of columns of every view.
    n_samples : int
    device : str
        Array library and device.
    dtype : object
        Float type of arrays on a device.
    columns : dict of str to list
        Names of the columns of views that are data frames.
    codings : dict of str to LabelCoding
        Of views that contain labels.
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Training samples with a row in each precomputed kernel; None if all have one, or without such kernels.
    table_width : int or None
        Number of columns, where X was one table.
    table_columns : list or None
        Their names, where it was a data frame.
    fingerprint : str
        A digest of some rows.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    widths: tuple[int, ...]
    n_samples: int
    device: str
    dtype: Any
    columns: dict[str, list[Any]] = field(default_factory=dict)
    codings: dict[str, LabelCoding] = field(default_factory=dict)
    mask: NDArray[np.bool_] | None = None
    table_width: int | None = None
    table_columns: list[Any] | None = None
    fingerprint: str = ""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return sum(self.widths) if self.table_width is None else self.table_width

    @property
    def feature_names(self) -> NDArray[Any] | None:
        """Column names of one table, if all are text, as scikit-learn has them."""
        return None if self.table_columns is None else feature_names(self.table_columns)


def feature_names(columns: Sequence[Any]) -> NDArray[Any] | None:
    """Column names, if all are text."""
    return np.array(columns, dtype=object) if all(isinstance(one, str) for one in columns) else None


class _Given(NamedTuple):
    """Views as given by the user: by name, with ids, mask and codings."""

    views: dict[str, Any]
    columns: dict[str, Any]  # for messages
    named: bool = False  # by the user; names by position do not identify missing views
    mask: NDArray[np.bool_] | None = None
    ids: Any = None
    table_width: int | None = None
    table_columns: list[Any] | None = None


def read_views(X: Any, rules: InputRules, schema: InputSchema | None = None) -> tuple[Views, InputSchema]:
    """Checked views of any supported input; errors name view, sample, rule and remedy.

    Parameters
    ----------
    X : list, dict or `Views` of arrays and data frames, array of shape (n, n, m), MuData, or one table
    rules : InputRules
    schema : InputSchema, default=None
        What `fit` returned, for new samples; None for training samples.

    Returns
    -------
    views : Views
        Finite float arrays (float32 is kept) or CSR arrays, rows matched by sample id, in the order of the training
        views. Rows of missing views are zero, and the mask is False there; it is None if nothing is missing.
    schema : InputSchema

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.validation import InputRules, read_views
    >>> rules = InputRules("MyClustering")
    >>> views, schema = read_views({"first": [[0, 1], [2, 3]], "second": np.eye(2)}, rules)
    >>> views, schema.kinds
    (Views(2 samples; first: 2, second: 2), ('features', 'features'))
    >>> read_views([np.ones((1, 2)), np.ones((1, 2))], rules, schema)[0]
    Views(1 samples; first: 2, second: 2)
    """
    given = _open(X, rules, schema)
    if schema is None:
        specs = per_view(rules.similarity, list(given.views), "similarity", default="auto")
        codings = {} if given.table_width is not None else _codings(given.views, specs, rules)
        kinds = {name: _kind(name, spec, codings) for name, spec in zip(given.views, specs, strict=True)}
        given = _order_kernels(given, kinds)
        views = _read(given, kinds, codings, rules, None)
        _check_devices(views, specs, rules)
        return _training_views(views, given, tuple(kinds.values()), codings, rules)
    kinds = dict(zip(schema.names, schema.kinds, strict=True))
    given = _in_training_order(given, rules, schema)
    masks = {} if schema.mask is None else dict(zip(schema.names, schema.mask.T, strict=True))
    return _new_views(_read(given, kinds, schema.codings, rules, masks), rules, schema), schema


def per_view(parameter: Any, names: Sequence[str], what: str, default: Any = None) -> list[Any]:
    """The value of a parameter for every view.

    Parameters
    ----------
    parameter : object, sequence or mapping
        The same for all views, one per view in order, or by view name.
    names : sequence of str
        Of the views.
    what : str
        Name of the parameter, for error messages.
    default : object, default=None
        For views that are not in a mapping. Without a default, a mapping must contain all views.

    Returns
    -------
    list
    """
    if isinstance(parameter, Mapping):
        unknown = [key for key in parameter if key not in names]
        absent = [key for key in names if key not in parameter and default is None]
        if unknown:
            raise ValueError(f"{what} contains unknown views: {unknown}. The views are {list(names)}.")
        if absent:
            raise ValueError(f"{what} has no value for the views {absent}. Give one value per view.")
        return [parameter.get(key, default) for key in names]
    if isinstance(parameter, (list, tuple)):
        if len(parameter) != len(names):
            raise ValueError(f"{what} has {len(parameter)} entries for {len(names)} views. Give one value per view.")
        return list(parameter)
    return [parameter] * len(names)


def is_precomputed(spec: Any) -> bool:
    """Whether a `similarity` means that its view is a kernel."""
    return isinstance(spec, PrecomputedSimilarity) or (isinstance(spec, str) and spec == "precomputed")


def _open(X: Any, rules: InputRules, schema: InputSchema | None) -> _Given:
    """Views by name, out of any container."""
    if is_mudata(X):
        X = modality_views(X)
    if rules.views is None:
        X = split_levels(X)
        refuse_single_columns(X)
    if not is_collection(X):
        return _open_table(X, rules, schema)
    if rules.views is not None:
        raise ValueError("views= requires one table, but X consists of several views. Remove views=.")
    named = _split_kernels(X, rules, schema) if getattr(X, "ndim", 2) == 3 else named_views(X)
    if schema is not None and len(named) == len(schema.names) and _is_unnamed(X):
        named = dict(zip(schema.names, named.values(), strict=True))
    columns = {name: columns_of(view) for name, view in named.items() if is_frame(view)}
    if isinstance(X, Views):
        return _Given(named, columns, True, X.mask, X.sample_ids)
    return _Given(named, columns, isinstance(X, Mapping))


def _is_unnamed(X: Any) -> bool:
    if isinstance(X, Views):
        return X.names == tuple(f"view_{position}" for position in range(X.n_views))
    return not isinstance(X, Mapping)


def _split_kernels(X: Any, rules: InputRules, schema: InputSchema | None) -> dict[str, Any]:
    if not is_precomputed(rules.similarity):
        raise ValueError(
            f"X has three dimensions {X.shape}. Kernels of shape (n_samples, n_samples, n_views) require "
            f"similarity='precomputed'. Pass views of features as a list or dict of two-dimensional arrays."
        )
    if X.shape[0] != X.shape[1] and schema is None:
        hint = " Move the view axis to the end with np.moveaxis(X, 0, -1)." if X.shape[1] == X.shape[2] else ""
        raise ValueError(f"Kernels must have the shape (n_samples, n_samples, n_views); got {X.shape}.{hint}")
    return named_views([X[:, :, position] for position in range(X.shape[2])])


def _open_table(X: Any, rules: InputRules, schema: InputSchema | None) -> _Given:
    """Groups of columns of one table."""
    if is_frame(X):
        frame_to_array(X, "X")
    if schema is not None and schema.table_width is not None:
        X = _order_table(X, rules.estimator, schema.feature_names)
    columns, ids = columns_of(X) if is_frame(X) else None, ids_of(X)
    if isinstance(X, np.ma.MaskedArray):  # scikit-learn would ignore the mask
        X = np.ma.filled(X.astype(np.float64), np.nan)
    table = read_view(X, "X")[0] if is_device_array(X) else _check_table(X, rules.estimator)
    width = int(table.shape[1])
    if schema is not None and schema.table_width not in (None, width):
        raise ValueError(
            f"X has {width} features, but {rules.estimator} is expecting {schema.table_width} features as input."
        )
    groups = column_groups(rules.views, width, columns)
    views = {name: table if rules.views is None else take_columns(table, group) for name, group in groups.items()}
    named = {name: group if columns is None else [columns[one] for one in group] for name, group in groups.items()}
    return _Given(views, named, False, None, None if ids is None else np.asarray(ids), width, columns)


def _order_table(X: Any, estimator: str, known: NDArray[Any] | None) -> Any:
    """A table of new samples with its columns in the training order; warns if only one of the tables has names."""
    found = feature_names(columns_of(X)) if is_frame(X) else None
    if known is not None and found is not None:
        return reorder_columns({"X": X}, {"X": known.tolist()}, estimator)["X"]
    if known is not None:
        warnings.warn(
            f"X does not have valid feature names, but {estimator} was fitted with feature names", stacklevel=5
        )
    if found is not None:
        warnings.warn(f"X has feature names, but {estimator} was fitted without feature names", stacklevel=5)
    return X


def _check_table(X: Any, estimator: str) -> Array:
    """One table, read by scikit-learn; values that are not finite are reported later, with their view."""
    table = check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=estimator
    )
    # The old sparse matrices turn into np.matrix in sums with arrays.
    return csr_array(table) if issparse(table) else table


def _codings(views: Mapping[str, Any], specs: Sequence[Any], rules: InputRules) -> dict[str, LabelCoding]:
    """The codings of views that contain labels."""
    found = {name: label_coding(view, spec, name) for (name, view), spec in zip(views.items(), specs, strict=True)}
    codings = {name: coding for name, coding in found.items() if coding is not None}
    if codings and not rules.labels:
        raise ValueError(
            f"{rules.estimator} does not accept labels, but the views {list(codings)} contain labels. Use "
            f"ConsensusClustering, GlobalAlignmentClustering or LateFusionClustering, or remove these views."
        )
    return codings


def _kind(name: str, spec: Any, codings: Mapping[str, Any]) -> str:
    return "labels" if name in codings else "precomputed" if is_precomputed(spec) else "features"


def _order_kernels(given: _Given, kinds: Mapping[str, str]) -> _Given:
    """Kernels with the same names of rows and columns, with columns in the order of the rows."""
    views, columns = dict(given.views), dict(given.columns)
    for name, view in given.views.items():
        index, own = index_of(view), columns.get(name, ())
        named = index is not None and len(own) == len(index) == len(set(own)) and set(own) == set(index)
        if kinds[name] == "precomputed" and named:
            columns[name] = index.tolist()
            views[name] = select_columns(view, columns[name])
    return given._replace(views=views, columns=columns)


def _in_training_order(given: _Given, rules: InputRules, schema: InputSchema) -> _Given:
    """Views of new samples under the names of the training views, with columns in the training order."""
    missing = [name for name in schema.names if name not in given.views]
    unknown = [name for name in given.views if name not in schema.names]
    may_be_absent = rules.missing and given.named and len(missing) < len(schema.names)
    if unknown or (missing and not may_be_absent):
        raise ValueError(
            f"{rules.estimator} was fitted on the views {list(schema.names)}; got {list(given.views)} (missing: "
            f"{missing}; unknown: {unknown}). Pass the same views."
        )
    labeled = {f"View {name!r}": view for name, view in given.views.items()}
    expected = {f"View {name!r}": columns for name, columns in schema.columns.items()}
    ordered = dict(zip(given.views, reorder_columns(labeled, expected, rules.estimator).values(), strict=True))
    columns = given.columns | {name: columns_of(view) for name, view in ordered.items() if is_frame(view)}
    return given._replace(views=ordered, columns=columns)


def _read(
    given: _Given,
    kinds: Mapping[str, str],
    codings: Mapping[str, LabelCoding],
    rules: InputRules,
    masks: Mapping[str, NDArray[np.bool_]] | None,
) -> Views:
    """Numbers of all views, checked one by one in the coordinates of the user, then matched by sample id.

    ``masks`` is None for training samples; for new ones it has the training samples that kernels are read for.
    """
    missing = rules.missing and (given.table_width is None or rules.views is not None)
    matched = match_rows(given.views, missing=missing)
    if matched.rows and not (given.mask is None and given.ids is None):
        raise ValueError(
            "The views have sample ids in different orders, but the mask and the sample_ids of `Views` refer to rows. "
            "Sort the rows of all views in the same order first."
        )
    arrays, observed = {}, {}
    for position, (name, view) in enumerate(given.views.items()):
        coordinates = Coordinates(ids_of(view) if given.ids is None else given.ids, given.columns.get(name))
        square = kinds[name] == "precomputed" and masks is None
        array, seen = read_view(
            label_codes(view, codings[name], name) if name in codings else view,
            name,
            observed=None if given.mask is None else given.mask[:, position],
            square=square,
            holes=missing,
            columns=None if not masks or kinds[name] != "precomputed" else masks[name],
            coordinates=coordinates,
        )
        if matched.rows:
            array, seen = _reorder_rows(array, seen, matched.rows[name], square=square)
        arrays[name], observed[name] = array, seen
    check_one_device(arrays)
    views = Views(arrays, mask=given.mask, sample_ids=matched.ids if given.ids is None else given.ids)
    if any(seen is not None for seen in observed.values()):
        whole = np.ones(len(views), dtype=bool)
        mask = np.stack([whole if seen is None else seen for seen in observed.values()], axis=1)
        views = Views(arrays, mask=mask, sample_ids=views.sample_ids)
    for name, array in views.items():
        check_magnitude(array, name)
    _check_complete(views, rules)
    return views


def _reorder_rows(
    array: Array, observed: NDArray[np.bool_] | None, rows: NDArray[np.intp], *, square: bool
) -> tuple[Array, NDArray[np.bool_] | None]:
    """Rows (and columns of kernels) in the order of the samples; rows of samples without the view are zero."""
    present = rows >= 0
    if square and array.shape[0] == array.shape[1]:
        array = _reorder_rows(array.T, None, rows, square=False)[0].T
    if present.all():
        return array[rows], None if observed is None else observed[rows]
    ordered = np.zeros((len(rows), array.shape[1]), dtype=array.dtype)
    ordered[present] = array[rows[present]]
    return ordered, present if observed is None else present & observed[rows]


def _check_complete(views: Views, rules: InputRules) -> None:
    if views.mask is None:
        return
    check_some_view(views)
    if not rules.missing and not views.mask.all():
        missing = {name: int(n) for name, n in zip(views.names, (~views.mask).sum(axis=0), strict=True) if n}
        raise ValueError(
            f"{rules.estimator} does not support missing views, but some are missing: {missing}. Keep the complete "
            f"samples, or use a method for missing views such as LateFusionClustering."
        )


def _check_devices(views: Views, specs: Sequence[Any], rules: InputRules) -> None:
    """Raise an error for views on a device if the estimator or the similarity supports NumPy arrays only."""
    for (name, array), spec in zip(views.items(), specs, strict=True):
        if not is_device_array(array):
            continue
        where = f"View {name!r} is stored in {device_name(array)}, but"
        if rules.numpy_only:
            raise ValueError(
                f"{where} {rules.numpy_only} Move the views to NumPy first (view.cpu().numpy() in torch, view.get() in "
                f"CuPy)."
            )
        reasons = {
            "precomputed kernels": is_precomputed(spec),
            "nearest-neighbor graphs": isinstance(spec, GraphSimilarity) or spec == "graph",
            "given partitions": isinstance(spec, GivenPartition),
        }
        reason = next((text for text, holds in reasons.items() if holds), None)
        if reason is not None:
            raise ValueError(
                f"{where} {reason} need NumPy arrays, got similarity={spec!r}. Use similarity='kernel', which computes "
                f"a factor of the kernel on the device, or move the views to NumPy first."
            )


def _training_views(
    views: Views, given: _Given, kinds: tuple[str, ...], codings: dict[str, LabelCoding], rules: InputRules
) -> tuple[Views, InputSchema]:
    """Checks of all training samples, and the schema of the input."""
    if len(views) < 2:
        raise ValueError("Clustering requires at least 2 samples; got n_samples=1.")
    n_clusters = 1 if rules.n_clusters is None else rules.n_clusters
    if views.mask is not None:
        check_holes(views, n_clusters)
        for message in loose_views(views.names, views.mask, n_clusters):
            warnings.warn(message, UserWarning, stacklevel=4)
    arrays = []
    for (name, array), kind, seen in zip(views.items(), kinds, views.observed.T, strict=True):
        if kind == "precomputed":
            arrays.append(check_observed_kernel(array, name, seen, views.sample_ids))
        else:
            check_not_constant(array if views.mask is None else array[seen], name)
            arrays.append(array)
    check_n_clusters(n_clusters, len(views))
    mask = None if views.mask is None or views.mask.all() else views.mask
    columns = {} if given.table_width is not None else dict(given.columns)
    for name, kind in zip(views.names, kinds, strict=True):
        if kind == "precomputed" and name in columns and views.sample_ids is not None:  # columns are samples
            same = set(columns[name]) == set(views.sample_ids.tolist())
            columns |= {name: views.sample_ids.tolist()} if same else {}
    schema = InputSchema(
        views.names,
        kinds,
        views.widths,
        len(views),
        device_name(views.arrays[0]),
        views.arrays[0].dtype,
        columns,
        codings,
        mask if "precomputed" in kinds else None,
        given.table_width,
        given.table_columns,
        fingerprint(views),
    )
    return Views(arrays, views.names, views.mask, views.sample_ids), schema


def _new_views(views: Views, rules: InputRules, schema: InputSchema) -> Views:
    """Views of new samples in the order of the training views; views that are not given are missing for all samples."""
    given = dict(views.items())
    arrays, observed = [], []
    for name, width, kind in zip(schema.names, schema.widths, schema.kinds, strict=True):
        array = given.get(name)
        if array is None:
            arrays.append(np.zeros((len(views), width), dtype=np.float32))
            observed.append(np.zeros(len(views), dtype=bool))
            continue
        if device_name(array) != schema.device:
            raise ValueError(
                f"View {name!r} is stored in {device_name(array)}, but {rules.estimator} was fitted on arrays in "
                f"{schema.device}. Move the new samples there, or fit on arrays of the same library and "
                f"device."
            )
        if kind == "precomputed":
            array = check_cross_kernel(array, name, width)
        elif array.shape[1] != width:
            raise ValueError(
                f"View {name!r} has {array.shape[1]} columns, but {rules.estimator} was fitted on {width}. Pass the "
                f"same columns in the same order."
            )
        elif is_device_array(array):  # where products of two float types may be an error
            array = namespace(array).astype(array, schema.dtype, copy=False)
        arrays.append(array)
        observed.append(views.observed[:, views.names.index(name)])
    complete = views.mask is None and len(given) == len(schema.names)
    return Views(arrays, schema.names, None if complete else np.stack(observed, axis=1), views.sample_ids)
