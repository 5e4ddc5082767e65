"""One more view for a fitted model: its input is read, matched with the training samples, and fused with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.base import warn_not_converged
from latefusion.estimators.matching import rows_of_ids
from latefusion.estimators.memberships import TrainingViews
from latefusion.types import Views
from latefusion.validation import (
    InputRules,
    InputSchema,
    ViewSchema,
    columns_of,
    is_frame,
    is_precomputed,
    read_views,
    reorder_rows,
)
from latefusion.validation.sample_ids import ids_of, shown_list, spelling_difference
from latefusion.validation.views import fingerprint

OTHERS = "Leave the others out, or fit a model on all views and samples."
# Parameters that may have one value per view.
PER_VIEW = {"similarity": "auto", "view_weights": 1.0}


class AddViewMixin:
    """`add_view` of an estimator that keeps its training views and partitions."""

    _input_rules: Any
    _of_training: Any
    _store_input: Any
    _cluster: Any
    get_params: Any
    consensus_map_: Any
    input_schema_: Any
    view_names_: Any
    max_iter: int

    # The private attribute with the partitions of the training samples.
    _kept: str

    def add_view(self, X: Any, name: str | None = None, *, similarity: Any = None) -> Any:
        """A model with one more view of the training samples. This model is not changed.

        Parameters
        ----------
        X : array, data frame, labels, kernel, or `Views` with one view
            The new view of all or some of the training samples. Rows are matched by sample id, or by their order
            without ids. Samples without a row, and rows of missing values, do not have the view.
        name : str, default=None
            Name of the view; that of `Views`, or ``view_`` and its number by default.
        similarity : as the parameter, default=None
            Of the new view; that of the model by default, or "auto" if the model has one per view.

        Returns
        -------
        estimator
            Fitted, with the parameters of this model. `predict` takes all views.

        Raises
        ------
        ValueError
            If X has no training samples, or others, or if the model does not contain its training views: after `load`,
            on chunked views, on a device, or with more than 100 000 samples.

        Notes
        -----
        Partitions of the old views are not computed again, unless views are missing for some samples.

        Global and local alignment have no other choices: labels and consensus are those of a fit with all views. The
        mean similarity changes, so the similarities of the old views are computed again, without their eigenvectors.

        `LateFusionClustering` keeps the number of clusters, the similarities, the weighting, λ, the number of shared
        components, and the scaling of complete views. It computes the weights of all views, the mean partition, the
        partition of all views together, and the labels. If a fit with all views makes the same choices, its labels and
        consensus are the same. `selection_` and `number_selection_` are those of this model, and there are no
        `alternatives_`.

        Hints of the fit are used again. Clusters are numbered by the fit; `match` tells which of them are those of this
        model.

        Examples
        --------
        >>> import latefusion as lf
        >>> first, second, third = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0).views.arrays
        >>> model = lf.GlobalAlignmentClustering(3, random_state=0).fit([first, second])
        >>> more = model.add_view(third)
        >>> whole = lf.GlobalAlignmentClustering(3, random_state=0).fit([first, second, third])
        >>> list(more.view_names_), bool((more.labels_ == whole.labels_).all())
        (['view_0', 'view_1', 'view_2'], True)
        """
        kept = self._training()
        training = kept.views
        names = [*map(str, self.view_names_)]
        name, given = _opened(X, name, names)
        model: Any = type(self)(**_extended_parameters(self.get_params(deep=False), names, name, similarity))
        rows = _training_rows(given, name, training.sample_ids, len(training))
        n_clusters = int(self.consensus_map_.coefficients.shape[1])
        views, own = _read(given.view, rows, name, model._input_rules(n_clusters))
        joined = _joined(training, views)
        model._store_input(_schema(self.input_schema_, own, joined), joined.observed, joined.sample_ids)
        model._mask = None if joined.mask is None or joined.mask.all() else joined.mask
        hints = () if kept.hints is None else (kept.hints,)
        model._cluster(joined, *hints, before=self._of_training(self._kept))
        if not model.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return model

    def _training(self) -> TrainingViews:
        """The training views; an error if the model does not contain them."""
        check_is_fitted(self)
        training: TrainingViews | None = vars(self).get("_training_views")
        if training is None or not hasattr(self, self._kept):
            raise ValueError(
                f"add_view needs the training views and the partitions of the fit, which this {type(self).__name__} "
                f"does not contain: it was loaded from a file or copied, or fitted on chunked views, on a device or on "
                f"more than 100 000 samples. Fit a model on all views."
            )
        if training.are_changed():
            raise ValueError(
                "The training views were changed in place after fit, so no view can be added. Fit a model on all views."
            )
        return training


class _Given(NamedTuple):
    """The new view as it was given, the ids of its rows, if they have any, and which rows have values."""

    view: Any
    ids: NDArray[Any] | None
    observed: NDArray[np.bool_]


def _opened(X: Any, name: str | None, names: list[str]) -> tuple[str, _Given]:
    """Name and content of the new view."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        X = Views(X)
    ids = observed = None
    if isinstance(X, Views):
        if X.n_views != 1:
            raise ValueError(f"X contains the views {list(X.names)}. Add one view at a time.")
        name, ids, observed = X.names[0] if name is None else name, X.sample_ids, X.observed[:, 0]
        X = X.arrays[0]
    name = f"view_{len(names)}" if name is None else str(name)
    if name in names:
        raise ValueError(f"The model has a view {name!r}. Give the new one another name.")
    kind = type(X).__name__
    X = X if hasattr(X, "shape") else np.asarray(X)
    if not X.shape:
        raise ValueError(f"The new view must be an array, a data frame, labels or `Views` with one view; got {kind}.")
    index = ids_of(X)
    ids = np.asarray(index) if ids is None and index is not None else ids
    return name, _Given(X, ids, np.ones(X.shape[0], dtype=bool) if observed is None else observed)


def _extended_parameters(parameters: dict[str, Any], names: list[str], name: str, similarity: Any) -> dict[str, Any]:
    """The parameters of a fit with all views."""
    if parameters.get("views") is not None:
        raise ValueError(
            "The views of this model are groups of columns of one table (views=), so a separate view cannot be added. "
            "Fit a model on a dict of views, or on the table with the new columns."
        )
    found = dict(parameters)
    for key, default in PER_VIEW.items():
        value, own = found[key], similarity if key == "similarity" else None
        if isinstance(value, Mapping):
            found[key] = {**value, name: default if own is None else own}
        elif isinstance(value, (list, tuple, np.ndarray)):
            found[key] = [*value, default if own is None else own]
        elif own is not None:
            found[key] = {**dict.fromkeys(names, value), name: own}
    return found


def _read(view: Any, rows: NDArray[np.intp], name: str, rules: InputRules) -> tuple[Views, ViewSchema]:
    """The new view alone, as a fit reads it among all views, in the order of the training samples."""
    columns = {str(one) for one in columns_of(view)} if is_frame(view) else set()
    kinds = {column: kind for column, kind in rules.kinds_of(name).items() if column in columns}
    similarity, encoders = rules.similarity, rules.encoders
    if isinstance(similarity, (Mapping, list)):
        similarity = similarity[name] if isinstance(similarity, Mapping) else similarity[-1]
    if isinstance(encoders, Mapping):
        encoders = encoders.get(name)
    alone = replace(rules, similarity=similarity, column_kinds=kinds or None, encoders=encoders, some_view=False)
    present = rows >= 0
    if not present.all() and is_precomputed(similarity):
        raise ValueError(
            f"View {name!r} is missing for {np.sum(~present)} training samples. A kernel needs all of them. Otherwise "
            f"fit a model on all views."
        )
    views, schema = read_views({name: _rows_of(view, rows[present])}, alone)
    own = schema.views[0]
    if present.all():
        return views, own
    order = np.where(present, np.cumsum(present) - 1, -1)
    array, observed = reorder_rows(views.arrays[0], None if views.mask is None else views.mask[:, 0], order)
    return Views([array], [name], None if observed is None else observed[:, None]), own


def _rows_of(view: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array, data frame or series; the same object for all of them in their order."""
    if np.array_equal(rows, np.arange(view.shape[0])):
        return view
    if len(view.shape) == 2:
        return Views([view])[rows].arrays[0]
    return view.iloc[rows] if hasattr(view, "iloc") else view[rows]


def _training_rows(given: _Given, name: str, ids: NDArray[Any] | None, n_samples: int) -> NDArray[np.intp]:
    """The row of every training sample in the new view, -1 if it does not have the view."""
    view, own, observed = given
    if ids is None or own is None:
        if view.shape[0] != n_samples:
            known = "" if ids is None else f" ({shown_list(ids.tolist())})"
            raise ValueError(
                f"View {name!r} has {view.shape[0]} rows, but the model was fitted on {n_samples} samples{known}. Give "
                f"one row per sample in the same order."
            )
        return np.where(observed, np.arange(n_samples), -1)
    rows = rows_of_ids(ids, own)
    if len(set(own.tolist())) < len(own):
        raise ValueError(f"View {name!r} contains sample ids more than once. Remove the repeated rows.")
    absent, others = ids[rows < 0].tolist(), own[~np.isin(np.arange(len(own)), rows)].tolist()
    if others or len(absent) == n_samples:
        lacks = f"lacks {len(absent)} of them ({shown_list(absent)})" if absent else ""
        has = f"has {len(others)} others ({shown_list(others)})" if others else ""
        hint = spelling_difference("the model", absent, name, others).replace("view 'the model'", "the model")
        raise ValueError(
            f"View {name!r} may contain the {n_samples} training samples only. It "
            f"{' and '.join(filter(None, (lacks, has)))}. {hint or OTHERS}"
        )
    return np.where((rows >= 0) & observed[rows], rows, -1)


def _joined(training: Views, new: Views) -> Views:
    """Training views and the new one."""
    mask = None
    if training.mask is not None or new.mask is not None:
        mask = np.column_stack([training.observed, new.observed])
    ids = new.sample_ids if training.sample_ids is None else training.sample_ids
    return Views([*training.arrays, *new.arrays], [*training.names, *new.names], mask, ids)


def _schema(known: InputSchema, own: ViewSchema, views: Views) -> InputSchema:
    """The schema of all views together."""
    has_kernel = own.kind == "precomputed" or "precomputed" in known.kinds
    mask = None if views.mask is None or views.mask.all() or not has_kernel else views.mask
    return replace(
        known,
        views=(*known.views, own),
        mask=mask,
        table_width=None,
        table_columns=None,
        fingerprint=fingerprint(views),
    )
