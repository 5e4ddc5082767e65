"""From any input to checked `Views`: the views are opened, read one by one by `read_view`, and matched by sample id."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

from latefusion.arrays import IN_NUMPY, device_name, is_device_array, namespace
from latefusion.encoding.column_kinds import KINDS
from latefusion.encoding.columns import Column
from latefusion.encoding.label_coding import LabelCoding
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
from latefusion.validation.holes import check_holes, check_some_view, loose_views
from latefusion.validation.kernels import check_cross_kernel, check_observed_kernel, is_precomputed
from latefusion.validation.labels import label_coding
from latefusion.validation.opening import Given, open_input
from latefusion.validation.sample_ids import Coordinates, ids_of, index_of, match_rows, shown_list
from latefusion.validation.schema import InputRules, InputSchema, ViewSchema
from latefusion.validation.single_view import read_view
from latefusion.validation.views import check_n_clusters, check_not_constant, check_one_device, fingerprint


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


def open_views(X: Any, rules: InputRules, schema: InputSchema) -> Views:
    """The views as the user gave them, rows matched by sample id, so that samples can be selected by row.

    Parameters
    ----------
    X, rules, schema : as in `read_views`

    Returns
    -------
    Views
        Arrays and data frames with their own types, in the order of the samples of `read_views`. Views that are not
        given are absent.
    """
    given = _in_training_order(open_input(X, rules, schema), rules, schema)
    missing = rules.missing and (given.table_width is None or rules.views is not None)
    matched = match_rows(given.views, missing=missing)
    ids = matched.ids if given.ids is None else given.ids
    views = {name: as_table(view) for name, view in given.views.items()}
    if not matched.rows:
        return Views(views, mask=given.mask, sample_ids=ids)
    arrays = {name: Views([view])[np.maximum(matched.rows[name], 0)].arrays[0] for name, view in views.items()}
    arrays = {name: view.set_axis(matched.index, axis=0) for name, view in arrays.items()}
    return Views(arrays, mask=np.stack([matched.rows[name] >= 0 for name in arrays], axis=1), sample_ids=ids)


def as_table(view: Any) -> Any:
    """A view of two dimensions: a list as an array, and labels as one column."""
    if hasattr(view, "to_frame") and len(view.shape) == 1:
        return view.to_frame()
    array = view if hasattr(view, "shape") else np.asarray(view)
    return array.reshape(-1, 1) if len(array.shape) == 1 else array


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
        array, seen, fitted[name] = read_view(
            view, schemas[name], rules, seen, coordinates, is_training=masks is None, kernel_columns=columns
        )
        if matched.rows:
            square = masks is None and schemas[name].kind == "precomputed"
            array, seen = reorder_rows(array, seen, matched.rows[name], square=square)
        arrays[name], observed[name] = array, seen
    check_one_device(arrays)
    views = Views(arrays, mask=given.mask, sample_ids=matched.ids if given.ids is None else given.ids)
    if any(seen is not None for seen in observed.values()):
        whole = np.ones(len(views), dtype=bool)
        mask = np.stack([whole if seen is None else seen for seen in observed.values()], axis=1)
        views = Views(arrays, mask=mask, sample_ids=views.sample_ids)
    _check_complete(views, rules)
    return views, fitted


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


def reorder_rows(
    array: Array, observed: NDArray[np.bool_] | None, rows: NDArray[np.intp], *, square: bool = False
) -> tuple[Array, NDArray[np.bool_] | None]:
    """Rows (and columns of kernels) in the order of the samples; rows of samples without the view are zero.

    Parameters
    ----------
    array : array of shape (n_rows, n_columns)
    observed : ndarray of bool of shape (n_rows,) or None
        Which rows have values; None for all.
    rows : ndarray of shape (n_samples,)
        The row of every sample, -1 for samples without the view.
    square : bool, default=False
        Whether columns of square arrays are samples, too.

    Returns
    -------
    array : array of shape (n_samples, n_columns)
    observed : ndarray of bool of shape (n_samples,) or None
    """
    present = rows >= 0
    if square and array.shape[0] == array.shape[1]:
        array = reorder_rows(array.T, None, rows)[0].T
    if present.all():
        return array[rows], None if observed is None else observed[rows]
    if issparse(array):
        indicators = (np.ones(present.sum(), array.dtype), rows[present], np.r_[0, np.cumsum(present)])
        chosen = csr_array(indicators, shape=(len(rows), array.shape[0]))
        return chosen @ array, present if observed is None else present & observed[rows]
    ordered = np.zeros((len(rows), array.shape[1]), dtype=array.dtype)
    ordered[present] = array[rows[present]]
    return ordered, present if observed is None else present & observed[rows]


def _check_complete(views: Views, rules: InputRules) -> None:
    if views.mask is None:
        return
    if rules.some_view:
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
            "nearest-neighbor graphs": not rules.graphs_on_device
            and (isinstance(spec, GraphSimilarity) or (isinstance(spec, str) and spec == "graph")),
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
        if array is None and schema.device != IN_NUMPY:
            raise ValueError(
                f"View {own.name!r} is missing for all samples. {rules.estimator} was fitted on arrays in "
                f"{schema.device}, where missing views are not supported. Pass all views, or fit on NumPy arrays."
            )
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
