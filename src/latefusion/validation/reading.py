"""From any input to checked `Views`: the views are opened, read one by one as numbers, and matched by sample id."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from latefusion.arrays import device_name, is_device_array, namespace
from latefusion.encoding.columns import Column
from latefusion.encoding.gaps import GapFilling, SparseFilling, fit_gap_filling, fit_sparse_filling
from latefusion.encoding.label_coding import LabelCoding
from latefusion.encoding.table_encoding import KINDS, RefusedColumn, fit_table_encoding, unknown_values
from latefusion.similarities import GivenPartition, GraphSimilarity
from latefusion.types import Array, Views
from latefusion.validation.columns import reorder_columns
from latefusion.validation.frames import (
    check_columns,
    columns_of,
    is_frame,
    is_numeric_frame,
    select_columns,
    table_columns,
)
from latefusion.validation.holes import check_holes, check_some_view, empty_rows, loose_views
from latefusion.validation.kernels import check_cross_kernel, check_observed_kernel, is_precomputed
from latefusion.validation.labels import label_codes, label_coding
from latefusion.validation.opening import Given, open_input
from latefusion.validation.sample_ids import Coordinates, ids_of, index_of, match_rows, shown_list
from latefusion.validation.schema import InputRules, InputSchema, ViewSchema
from latefusion.validation.views import (
    as_numbers,
    check_device_array,
    check_finite,
    check_magnitude,
    check_n_clusters,
    check_not_constant,
    check_one_device,
    fingerprint,
    hide_missing,
    is_finite,
    is_moderate,
)

# Rows and values from which the filling of missing values is fitted if the training samples have none.
FILLING_ROWS = 256
FILLING_VALUES = 2**17
LEAST_FILLING_ROWS = 8


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
    given = open_input(X, rules, schema)
    if schema is not None:
        given = _in_training_order(given, rules, schema)
        masks = {} if schema.mask is None else dict(zip(schema.names, schema.mask.T, strict=True))
        views, _ = _read(given, {view.name: view for view in schema.views}, rules, masks)
        return _new_views(views, rules, schema), schema
    specs = per_view(rules.similarity, list(given.views), "similarity", default="auto")
    given, schemas = _describe(given, specs, rules)
    views, schemas = _read(given, schemas, rules, None)
    _check_devices(views, specs, rules)
    return _training_views(views, given, schemas, rules)


def read_tables(X: Any, rules: InputRules, schema: InputSchema) -> dict[str, dict[str, Column]]:
    """The columns of views that are tables, as the user gave them, in the order of the samples of `read_views`.

    Parameters
    ----------
    X, rules, schema : as in `read_views`

    Returns
    -------
    dict of str to dict of str to Column
        By view and column; without the columns that are left out.
    """
    given = _in_training_order(open_input(X, rules, schema), rules, schema)
    matched = match_rows(given.views, missing=rules.missing)
    found = {}
    for view in schema.views:
        if view.table is None or view.name not in given.views:
            continue
        columns = table_columns(given.views[view.name], f"View {view.name!r}", Coordinates(), rules.missing_values)
        rows = matched.rows.get(view.name)
        found[view.name] = {
            coding.name: columns[coding.name] if rows is None else columns[coding.name].take(rows).hidden(rows < 0)
            for coding in view.table.codings
            if coding.name in columns
        }
    return found


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


def _describe(given: Given, specs: Sequence[Any], rules: InputRules) -> tuple[Given, dict[str, ViewSchema]]:
    """What every training view contains, before it is read: features, a table, a kernel or labels."""
    codings = {} if given.table_width is not None else _codings(given.views, specs, rules)
    encoders = _encoders(given.views, rules)
    views, columns, schemas = dict(given.views), dict(given.columns), {}
    _check_column_kinds(given, rules)
    for (name, view), spec in zip(given.views.items(), specs, strict=True):
        kind = "labels" if name in codings else "precomputed" if is_precomputed(spec) else "features"
        if is_frame(view):
            check_columns(view, f"View {name!r}")
            if kind == "precomputed":
                view = _ordered_kernel(view)
            wanted = rules.kinds_of(name)
            kept = [one for one in columns_of(view) if wanted.get(str(one)) != "drop"]
            view = view if len(kept) == len(columns_of(view)) else select_columns(view, kept)
            asked = any(str(one) in wanted for one in kept)
            if kind == "features" and encoders[name] is None and (asked or not is_numeric_frame(view)):
                kind = "table"
            views[name], columns[name] = view, kept
        width = int(view.shape[1]) if len(getattr(view, "shape", ())) == 2 else 0
        schemas[name] = ViewSchema(
            name,
            kind,
            width,
            columns=columns.get(name) if is_frame(view) else None,
            labels=codings.get(name),
            transformer=encoders[name],
        )
    return given._replace(views=views, columns=columns), schemas


def _encoders(views: Mapping[str, Any], rules: InputRules) -> dict[str, Any]:
    """Clones of the transformers that the user gave for views."""
    given = rules.encoders if isinstance(rules.encoders, Mapping) else dict.fromkeys(views, rules.encoders)
    unknown = [name for name in given if name not in views]
    if unknown:
        raise ValueError(f"encoders contains unknown views: {unknown}. The views are {list(views)}.")
    for name, one in given.items():
        if one is not None and not (hasattr(one, "fit") and hasattr(one, "transform")):
            raise ValueError(
                f"The encoder of view {name!r} must be a transformer with the methods fit and transform; got {one!r}."
            )
    return {name: None if given.get(name) is None else clone(given[name]) for name in views}


def _check_column_kinds(given: Given, rules: InputRules) -> None:
    """Raise an error for unknown kinds, and for columns that no view has."""
    for name in given.views:
        for column, kind in rules.kinds_of(name).items():
            if isinstance(kind, str) and kind not in KINDS:
                raise ValueError(
                    f"column_kinds has the unknown kind {kind!r} for column {column!r}. Use one of {list(KINDS)}, or "
                    f"the list of ordered categories."
                )
    known = {str(column) for own in given.columns.values() for column in own}
    known |= {str(column) for column in given.table_columns or ()}
    flat = [one for one, kind in (rules.column_kinds or {}).items() if not isinstance(kind, Mapping)]
    nested = [one for own in (rules.column_kinds or {}).values() if isinstance(own, Mapping) for one in own]
    unknown = [one for one in (*flat, *nested) if str(one) not in known]
    if unknown:
        raise ValueError(
            f"Kinds are given for columns that no view has: [{shown_list(unknown)}]. Check their spelling. Only tables "
            f"have columns with names."
        )


def _ordered_kernel(view: Any) -> Any:
    """A kernel with the same names of rows and columns, with columns in the order of the rows."""
    index, own = index_of(view), columns_of(view)
    named = index is not None and len(own) == len(index) == len(set(own)) and set(own) == set(index)
    return select_columns(view, index.tolist()) if named else view


def _in_training_order(given: Given, rules: InputRules, schema: InputSchema) -> Given:
    """Views of new samples under the names of the training views, with columns in the training order."""
    missing = [name for name in schema.names if name not in given.views]
    unknown = [name for name in given.views if name not in schema.names]
    may_be_absent = rules.missing and given.named and len(missing) < len(schema.names)
    if unknown or (missing and not may_be_absent):
        raise ValueError(
            f"{rules.estimator} was fitted on the views {list(schema.names)}; got {list(given.views)} (missing: "
            f"{missing}; unknown: {unknown}). Pass the same views."
        )
    labeled: dict[str, Any] = {}
    expected: dict[str, list[Any]] = {}
    for view in schema.views:
        if view.name in given.views:
            frame, label = given.views[view.name], f"View {view.name!r}"
            dropped = [one for one, kind in rules.kinds_of(view.name).items() if kind == "drop"]
            if dropped and is_frame(frame):
                frame = select_columns(frame, [one for one in columns_of(frame) if str(one) not in dropped])
            labeled[label] = frame
            if view.columns is not None:
                unused = set() if view.table is None else set(view.table.left_out)
                if unused and is_frame(frame):
                    frame = select_columns(frame, [one for one in columns_of(frame) if str(one) not in unused])
                    labeled[label] = frame
                expected[label] = [one for one in view.columns if str(one) not in unused]
    order = [view.name for view in schema.views if view.name in given.views]
    allow = rules.missing_columns == "allow"
    ordered = reorder_columns(labeled, expected, rules.estimator, allow=allow)
    views = dict(zip(order, ordered.values(), strict=True))
    columns = given.columns | {name: columns_of(view) for name, view in views.items() if is_frame(view)}
    return given._replace(views={name: views[name] for name in given.views}, columns=columns)


def _read(
    given: Given,
    schemas: Mapping[str, ViewSchema],
    rules: InputRules,
    masks: Mapping[str, NDArray[np.bool_]] | None,
) -> tuple[Views, dict[str, ViewSchema]]:
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
    arrays, observed, fitted = {}, {}, {}
    for position, (name, view) in enumerate(given.views.items()):
        coordinates = Coordinates(ids_of(view) if given.ids is None else given.ids, given.columns.get(name))
        seen = None if given.mask is None else given.mask[:, position]
        columns = masks[name] if masks and schemas[name].kind == "precomputed" else None
        array, seen, fitted[name] = _read_view(
            view, schemas[name], rules, seen, coordinates, is_training=masks is None, kernel_columns=columns
        )
        if matched.rows:
            square = masks is None and schemas[name].kind == "precomputed"
            array, seen = _reorder_rows(array, seen, matched.rows[name], square=square)
        arrays[name], observed[name] = array, seen
    check_one_device(arrays)
    views = Views(arrays, mask=given.mask, sample_ids=matched.ids if given.ids is None else given.ids)
    if any(seen is not None for seen in observed.values()):
        whole = np.ones(len(views), dtype=bool)
        mask = np.stack([whole if seen is None else seen for seen in observed.values()], axis=1)
        views = Views(arrays, mask=mask, sample_ids=views.sample_ids)
    _check_complete(views, rules)
    return views, fitted


def _read_view(
    view: Any,
    schema: ViewSchema,
    rules: InputRules,
    observed: NDArray[np.bool_] | None,
    coordinates: Coordinates,
    *,
    is_training: bool,
    kernel_columns: NDArray[np.bool_] | None,
) -> tuple[Array, NDArray[np.bool_] | None, ViewSchema]:
    """One view as finite numbers, and its schema; what training samples teach is fitted on the observed rows."""
    if is_device_array(view):
        array = check_device_array(view, schema.name, observed)
        check_magnitude(array, schema.name)
        _check_width(array, schema, rules, is_training=is_training)
        return array, observed, schema
    if schema.kind == "labels":
        assert schema.labels is not None
        array = as_numbers(label_codes(view, schema.labels, schema.name), schema.name)
    elif schema.kind == "table":
        array, schema = _table_numbers(view, schema, rules, observed, coordinates, is_training=is_training)
    elif schema.transformer is not None:
        observed = _rows_with_values(view, schema.name, observed, coordinates)
        array, schema = _transformed(view, schema, observed, is_training=is_training)
    else:
        array = _with_all_columns(as_numbers(view, schema.name, coordinates), view, schema)
        if schema.kind == "features":
            array = _without_marker(array, rules.missing_values)
        _check_width(array, schema, rules, is_training=is_training)
    complete = observed is None and kernel_columns is None and is_moderate(array)
    if not complete:
        square = is_training and schema.kind == "precomputed"
        array, observed = hide_missing(array, observed, square=square, columns=kernel_columns)
        fills = schema.kind in ("features", "table") and (is_training or schema.gaps is not None)
        check_finite(array, schema.name, coordinates, schema.kind, allow_missing=fills)
        check_magnitude(array, schema.name)
        complete = is_finite(array)
    if schema.kind in ("features", "table"):
        array, schema = _fill_gaps(array, schema, observed, is_training=is_training, complete=complete)
    return array, observed, schema


def _table_numbers(
    view: Any,
    schema: ViewSchema,
    rules: InputRules,
    observed: NDArray[np.bool_] | None,
    coordinates: Coordinates,
    *,
    is_training: bool,
) -> tuple[NDArray[Any], ViewSchema]:
    """The coordinates of a table, NaN where values are missing."""
    label = f"View {schema.name!r}"
    if not is_frame(view):
        raise ValueError(
            f"{label} must be a data frame with the columns [{shown_list(schema.columns or [])}], as in `fit`; got "
            f"{type(view).__name__}."
        )
    columns = table_columns(view, label, coordinates, rules.missing_values)
    n_samples = len(next(iter(columns.values())).values)
    if is_training:
        known = {name: one if observed is None else one.take(observed) for name, one in columns.items()}
        try:
            table = fit_table_encoding(known, rules.kinds_of(schema.name))
        except RefusedColumn as error:
            rows = np.arange(n_samples) if observed is None else np.flatnonzero(observed)
            where = "" if error.row is None else f", {coordinates.sample(int(rows[error.row]))}"
            raise ValueError(f"{label}{where}: {error}") from error
        if set(table.kinds.values()) == {"empty"}:
            raise ValueError(
                f"{label} has no values in its columns [{shown_list(list(table.kinds))}]. Remove the view."
            )
        if not table.codings:
            raise ValueError(
                f"{label} has no column that can be used: {table.kinds}. Remove the view, or set the kinds of its "
                f"columns with column_kinds."
            )
        for note in table.notes:
            warnings.warn(f"{label}: {note}", UserWarning, stacklevel=6)
        schema = replace(schema, table=table)
    assert schema.table is not None
    for coding in schema.table.codings:
        columns.setdefault(coding.name, Column(np.full(n_samples, np.nan)))
    for note in () if is_training else unknown_values(schema.table, columns):
        warnings.warn(f"{label}: {note}", UserWarning, stacklevel=6)
    return schema.table(columns), schema


def _transformed(
    view: Any, schema: ViewSchema, observed: NDArray[np.bool_] | None, *, is_training: bool
) -> tuple[Array, ViewSchema]:
    """A view through the transformer of the user, which is fitted on the training samples that have the view."""
    rows = None if observed is None or observed.all() else np.flatnonzero(observed)
    part = view if rows is None else Views([view])[rows].arrays[0]
    try:
        # Not `fit_transform`, whose result may differ in the last digit from that of `transform`.
        array = (schema.transformer.fit(part) if is_training else schema.transformer).transform(part)
    except Exception as error:
        raise ValueError(f"The encoder of view {schema.name!r} failed: {error}") from error
    array = as_numbers(array, schema.name)
    if rows is not None:
        whole = np.full((len(observed), array.shape[1]), np.nan, dtype=array.dtype)  # type: ignore[arg-type]
        whole[rows] = array.toarray() if hasattr(array, "toarray") else array
        array = whole
    return array, schema


def _rows_with_values(
    view: Any, name: str, observed: NDArray[np.bool_] | None, coordinates: Coordinates
) -> NDArray[np.bool_] | None:
    """Which rows of a view have any value, before a transformer of the user imputes some."""
    if is_frame(view):
        columns = table_columns(view, f"View {name!r}", coordinates)
        empty = np.all([column.missing for column in columns.values()], axis=0)
    else:
        array = as_numbers(view, name)
        empty = np.zeros(array.shape[0], dtype=bool) if is_finite(array) else empty_rows(array)
    if not empty.any():
        return observed
    return ~empty if observed is None else observed & ~empty


def _check_width(array: Array, schema: ViewSchema, rules: InputRules, *, is_training: bool) -> None:
    if not is_training and schema.kind == "features" and array.shape[1] != schema.width:
        raise ValueError(
            f"View {schema.name!r} has {array.shape[1]} columns, but {rules.estimator} was fitted on {schema.width}. "
            f"Pass the same columns in the same order."
        )


def _without_marker(array: Array, marker: Any) -> Array:
    """Numbers with NaN instead of the value that marks missing values."""
    if marker is None or marker != marker or not isinstance(array, np.ndarray):
        return array
    return np.where(array == marker, array.dtype.type(np.nan), array)


def _with_all_columns(array: Array, view: Any, schema: ViewSchema) -> Array:
    """The numbers of a data frame of new samples, NaN in columns that are absent."""
    if schema.columns is None or not is_frame(view) or array.shape[1] == schema.width:
        return array
    found = columns_of(view)
    whole = np.full((array.shape[0], schema.width), np.nan, dtype=array.dtype)
    whole[:, [schema.columns.index(one) for one in found]] = array
    return whole


def _fill_gaps(
    array: Array, schema: ViewSchema, observed: NDArray[np.bool_] | None, *, is_training: bool, complete: bool
) -> tuple[Array, ViewSchema]:
    """A view without missing values, by the filling that was fitted on the training samples."""
    if is_training:
        schema = replace(schema, gaps=_fit_filling(array, observed, complete=complete))
    if complete or schema.gaps is None:
        return array, schema
    if observed is None or observed.all() or issparse(array):
        return schema.gaps(array), schema
    filled = array.copy()
    filled[observed] = schema.gaps(array[observed])
    return filled, schema


def _fit_filling(
    array: Array, observed: NDArray[np.bool_] | None, *, complete: bool
) -> GapFilling | SparseFilling | None:
    """The filling of missing values; of a few rows if the training samples have none, for new samples that may."""
    if issparse(array):
        return fit_sparse_filling(array)
    if not complete:
        return fit_gap_filling(array if observed is None else array[observed])
    rows = np.arange(len(array)) if observed is None else np.flatnonzero(observed)
    n_rows = max(LEAST_FILLING_ROWS, min(FILLING_ROWS, FILLING_VALUES // array.shape[1]))
    few = rows[:: max(1, len(rows) // n_rows)][:n_rows]
    return fit_gap_filling(array[few], factors=False) if len(few) > 1 else None


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
    views: Views, given: Given, schemas: Mapping[str, ViewSchema], rules: InputRules
) -> tuple[Views, InputSchema]:
    """Checks of all training samples, and the schema of the input."""
    if len(views) < 2:
        raise ValueError("Clustering requires at least 2 samples; got n_samples=1.")
    n_clusters = 1 if rules.n_clusters is None else rules.n_clusters
    if views.mask is not None:
        check_holes(views, n_clusters)
        for message in loose_views(views.names, views.mask, n_clusters):
            warnings.warn(message, UserWarning, stacklevel=4)
    arrays, described = [], []
    for (name, array), seen in zip(views.items(), views.observed.T, strict=True):
        own = schemas[name]
        own = replace(own, width=own.width or int(array.shape[1]), n_coordinates=int(array.shape[1]))
        if own.kind == "precomputed":
            array = check_observed_kernel(array, name, seen, views.sample_ids)
            if own.columns is not None and views.sample_ids is not None:  # columns are samples
                ids = views.sample_ids.tolist()
                own = replace(own, columns=ids if set(own.columns) == set(ids) else own.columns)
        else:
            check_not_constant(array if views.mask is None else array[seen], name)
        arrays.append(array)
        described.append(own)
    check_n_clusters(n_clusters, len(views))
    mask = None if views.mask is None or views.mask.all() else views.mask
    schema = InputSchema(
        tuple(described),
        len(views),
        device_name(views.arrays[0]),
        views.arrays[0].dtype,
        mask if any(own.kind == "precomputed" for own in described) else None,
        given.table_width,
        given.table_columns,
        fingerprint(views),
    )
    return Views(arrays, views.names, views.mask, views.sample_ids), schema


def _new_views(views: Views, rules: InputRules, schema: InputSchema) -> Views:
    """Views of new samples in the order of the training views; views that are not given are missing for all samples."""
    given = dict(views.items())
    arrays, observed = [], []
    for own in schema.views:
        array = given.get(own.name)
        if array is None:
            arrays.append(np.zeros((len(views), own.n_coordinates), dtype=np.float32))
            observed.append(np.zeros(len(views), dtype=bool))
            continue
        if device_name(array) != schema.device:
            raise ValueError(
                f"View {own.name!r} is stored in {device_name(array)}, but {rules.estimator} was fitted on arrays in "
                f"{schema.device}. Move the new samples there, or fit on arrays of the same library and "
                f"device."
            )
        if own.kind == "precomputed":
            array = check_cross_kernel(array, own.name, own.width)
        elif is_device_array(array):  # where products of two float types may be an error
            array = namespace(array).astype(array, schema.dtype, copy=False)
        arrays.append(array)
        observed.append(views.observed[:, views.names.index(own.name)])
    complete = views.mask is None and len(given) == len(schema.names)
    return Views(arrays, schema.names, None if complete else np.stack(observed, axis=1), views.sample_ids)
