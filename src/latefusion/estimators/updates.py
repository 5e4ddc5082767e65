"""A new fit on a new table of samples, whose clusters keep the ids of the old ones."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import beside, namespace, to_numpy
from latefusion.assignment.cluster_ids import RuleWithIds, ids_of_rule, number_of_ids
from latefusion.estimators.drift import Drift, find_drift
from latefusion.estimators.matching import rows_of_ids, spelling_of
from latefusion.metrics import ClusterMatch, match_clusters
from latefusion.results import ResultTable
from latefusion.summaries import hint_line
from latefusion.types import Views
from latefusion.validation.frames import columns_of, is_frame, select_columns
from latefusion.validation.hints import Hints
from latefusion.validation.sample_ids import shown_list
from latefusion.validation.views import fingerprint

KEPT, MOVED, NEW = "kept", "moved", "new"


@dataclass(frozen=True, eq=False, repr=False)
class Update:
    """A new clustering with the ids of the clusters of an old one, and what changed.

    Attributes
    ----------
    model : fitted estimator
        Fitted on the new table, with the parameters of the old model. Its labels are the ids that stay.
    match : ClusterMatch
        Clusters of the old model and of the new one.
    sample_ids : ndarray of shape (n_samples,) or None
        Of the new table; None if samples have no ids but row numbers.
    before : ndarray of shape (n_samples,)
        Cluster by the old model: that of its fit if the sample was in it, what it predicts for the others.
    known : ndarray of bool of shape (n_samples,)
        Samples that the old model was fitted on.
    gone : ndarray
        Ids of samples of the old model that the new table does not contain.
    novelty : ndarray of shape (n_samples,)
        By the old model.
    drift : Drift
        New samples against those of the old model.
    remarks : tuple of str
        How samples were matched, if not by ids.
    """

    model: Any
    match: ClusterMatch
    sample_ids: NDArray[Any] | None
    before: NDArray[Any]
    known: NDArray[np.bool_]
    gone: NDArray[Any]
    novelty: NDArray[np.float64]
    drift: Drift
    remarks: tuple[str, ...] = ()

    @property
    def labels(self) -> NDArray[np.intp]:
        """Cluster of every sample of the new table: ``labels_`` of the model."""
        return np.asarray(to_numpy(self.model.labels_))

    @property
    def change(self) -> NDArray[Any]:
        """For every sample "kept", "moved" (to another cluster) or "new" (not in the fit of the old model)."""
        return np.where(self.known, np.where(self.labels == self.before, KEPT, MOVED), NEW)

    @property
    def moved(self) -> NDArray[Any]:
        """Ids of samples of the old model that are in another cluster; row numbers if there are no ids."""
        return self._named(self.change == MOVED)

    @property
    def new(self) -> NDArray[Any]:
        """Ids of samples that were not in the fit of the old model; row numbers if there are no ids."""
        return self._named(~self.known)

    @property
    def moves(self) -> ResultTable:
        """How many samples moved from which cluster to which, most first."""
        rows = self.change == MOVED
        pairs, counts = np.unique(np.stack([self.before[rows], self.labels[rows]], axis=1), axis=0, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return ResultTable({"from": pairs[order, 0], "to": pairs[order, 1], "samples": counts[order]})

    @property
    def samples(self) -> ResultTable:
        """All samples of the new table: cluster, cluster by the old model, what changed, novelty."""
        ids = np.arange(len(self.labels)) if self.sample_ids is None else self.sample_ids
        columns = {"label": self.labels, "before": self.before, "change": self.change, "novelty": self.novelty}
        return ResultTable({"id": ids, **columns})

    @property
    def head(self) -> str:
        """Numbers of samples and clusters."""
        n_known, n_new, n_gone = int(self.known.sum()), int(np.sum(~self.known)), len(self.gone)
        return (
            f"{len(self.labels)} samples: {n_known} known, {n_new} new, {n_gone} no longer there. "
            f"{len(self.match.second)} clusters, {len(self.match.first)} before."
        )

    @property
    def clusters(self) -> ResultTable:
        """All clusters by id: what became of them, and their samples before and after."""
        found = self.match.clusters.columns
        names = {"cluster": "cluster", "change": "change", "samples": "before", "samples_second": "after"}
        return ResultTable({new: found[old] for old, new in names.items()})

    @property
    def notes(self) -> list[str]:
        """What changed, in sentences."""
        n_known, moved = int(self.known.sum()), self.moved
        notes = list(self.remarks)
        if n_known:
            listed = f": {shown_list(moved.tolist())}" if len(moved) else ""
            notes.append(f"Moved: {len(moved)} of {n_known} known samples are in another cluster{listed}.")
        hints = hint_line(self.model)
        return [*notes, *([] if hints is None else [hints]), *self.match.notes, *self.drift.notes]

    def to_frame(self) -> Any:
        """All samples as a pandas data frame: label, cluster before, change and novelty.

        Returns
        -------
        pandas.DataFrame
        """
        return self.samples.to_frame()

    def body(self) -> str:
        """The text without the head."""
        return "\n".join([repr(self.clusters), "", *self.notes])

    def __repr__(self) -> str:
        return "\n".join([self.head, "", self.body()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>\n" for note in self.notes)
        return f"<p><b>{html.escape(self.head)}</b></p>\n{self.clusters._repr_html_()}{notes}"

    def _named(self, rows: NDArray[np.bool_]) -> NDArray[Any]:
        return np.flatnonzero(rows) if self.sample_ids is None else self.sample_ids[rows]


class UpdateMixin:
    """`update` of an estimator with a `consensus_map_`."""

    consensus_map_: Any
    input_schema_: Any
    labels_: Any
    view_names_: Any
    fit: Any
    get_params: Any
    new_views: Any
    predict_views: Any
    _input_rules: Any
    _kernel_views: Any
    _present: Any

    @property
    def cluster_ids_(self) -> NDArray[np.intp]:
        """Ids of all clusters, ascending: the order of the columns of memberships. After a fit, 0 to n_clusters - 1."""
        check_is_fitted(self)
        fitted = self.consensus_map_
        return ids_of_rule(fitted.rule, int(fitted.coefficients.shape[1]))

    def update(self, X: Any, **hints: Any) -> Update:
        """Cluster a new table of samples; clusters keep their ids.

        A new model is fitted on all samples of the new table, which may contain samples of the old one, contain others,
        and lack some. This model is not changed.

        Parameters
        ----------
        X : as in `fit`
            All views of this model, with the same columns; further columns are not used, with a warning. Samples that
            this model was fitted on are recognized by their ids. Kernels are refused, since this model cannot label the
            samples of another kernel.
        **hints : keyword arguments
            ``y``, ``must_link`` and ``cannot_link`` of `fit`. By default those of this model, for samples that are
            still there; ``y={}`` is none.

        Returns
        -------
        Update
            The new ``model``, and what moved, appeared, vanished, split and merged. It prints itself.

        See Also
        --------
        match : The clusters of any two models.

        Notes
        -----
        Kept are the parameters, with the number of clusters if it is an integer, and the ids of clusters. Everything
        else is fitted again, and choices such as ``n_clusters="auto"`` are made again.

        Clusters are matched by what both models say of the same rows: the labels of the new fit and the predictions of
        this model. Rows with a novelty above 1, for which its predictions are extrapolations, count as belonging to
        none of its clusters. See `match` for the rule. Ids of clusters that vanished are not used again.

        Examples
        --------
        >>> import pandas as pd
        >>> import latefusion as lf
        >>> views = lf.datasets.make_views(n_samples=120, n_clusters=3, random_state=0).views
        >>> table = {name: pd.DataFrame(one, index=[f"p{i}" for i in range(120)]) for name, one in views.items()}
        >>> model = lf.LateFusionClustering(3, random_state=0).fit({name: one[:100] for name, one in table.items()})
        >>> update = model.update({name: one[10:] for name, one in table.items()})
        >>> len(update.new), len(update.gone), len(update.moved) < 5, update.model.cluster_ids_
        (20, 10, True, array([0, 1, 2]))
        """
        check_is_fitted(self)
        self._check_no_kernels()
        X = _named_views(X, list(map(str, self.view_names_)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            views = self.new_views(X)
        for one in caught:
            warnings.warn(_of_old_model(str(one.message)), one.category, stacklevel=2)
        self._check_all_views(views)
        X = self._with_known_columns(X)
        predicted = np.asarray(to_numpy(self.predict_views(views, confidence=False, novelty=False)[0]))
        novelty = np.asarray(self.consensus_map_.novelty(views, self._present(views)))
        rows, gone, remarks = self._known_rows(views, views.sample_ids)
        old = vars(self).get("hints_")
        if old is not None and all(one is None for one in hints.values()):
            kept = old.hints.take(rows)
            hints, remarks = {"y": kept}, (*remarks, _kept_hints(len(old.samples), kept))
        model = type(self)(**self.get_params(deep=False)).fit(X, **hints)
        labels, ids = np.asarray(to_numpy(model.labels_)), getattr(model, "sample_ids_", None)
        own = np.asarray(to_numpy(self.labels_))
        n_ids = number_of_ids(self.consensus_map_.rule, len(self.cluster_ids_))
        matched = match_clusters(predicted, labels, known=novelty <= 1, first=own, n_ids=n_ids)
        known = rows >= 0
        before = np.where(known, own[np.maximum(rows, 0)], predicted)
        model._name_clusters(matched.names, n_ids)
        drift = find_drift(self.consensus_map_.novelty, novelty[~known], own, predicted[~known])
        return Update(model, matched, ids, before, known, gone, novelty, drift, remarks)

    def _known_rows(
        self, views: Views, ids: NDArray[Any] | None
    ) -> tuple[NDArray[np.intp], NDArray[Any], tuple[str, ...]]:
        """Rows of samples in the fit of this model, -1 for new ones; ids of samples that are gone; how they matched."""
        own, n_samples = getattr(self, "sample_ids_", None), len(self.labels_)
        if ids is None or own is None:
            everything = np.arange(n_samples)
            if ids is None and own is None and self.input_schema_.fingerprint == fingerprint(views):
                return everything, everything[:0], ()
            note = "The samples have no ids in both tables, so none is recognized. All of them count as new."
            return np.full(len(views), -1), everything, (note,)
        rows = rows_of_ids(ids, own)
        remarks: tuple[str, ...] = ()
        if not (rows >= 0).any():
            what = spelling_of(own, ids).replace("Give clusterings with common samples.", "All of them count as new.")
            remarks = (f"No sample of the old model is in the new table. {what}",)
        return rows, own[~np.isin(np.arange(n_samples), rows)], remarks

    def _name_clusters(self, names: Mapping[Any, Any], n_ids: int) -> None:
        """Give clusters other ids, in everything that contains labels."""
        fitted = self.consensus_map_
        numbers = np.arange(int(fitted.coefficients.shape[1]))
        free = max([n_ids - 1, *names.values()]) + 1
        empty = [one for one in numbers.tolist() if one not in names]  # they get ids after all others
        named = {**names, **dict(zip(empty, range(free, free + len(empty)), strict=True))}
        ids = np.array([named[one] for one in numbers.tolist()], dtype=np.intp)
        self.consensus_map_ = replace(fitted, rule=RuleWithIds(fitted.rule, ids, free + len(empty)))
        self.labels_ = namespace(self.labels_).take(beside(ids, self.labels_), self.labels_)
        hinted = vars(self).get("hints_")
        if hinted is not None:
            own, classes = ids[hinted.clusters], ids[hinted.class_clusters]
            vars(self)["hints_"] = replace(hinted, clusters=own, class_clusters=classes)
        alternatives = vars(self).get("alternatives_")
        if alternatives is not None:
            vars(self)["alternatives_"] = tuple(one._replace(labels=ids[one.labels]) for one in alternatives)

    def _with_known_columns(self, X: Any) -> Any:
        """Data frames without columns that this model was not fitted on, which `new_views` names in a warning."""
        schema = self.input_schema_
        if is_frame(X) and getattr(schema, "table_columns", None) is not None:
            return _select(X, schema.table_columns)
        if not isinstance(X, (Mapping, Views)) or not hasattr(schema, "views"):
            return X
        known = {view.name: view.columns for view in schema.views}
        rules = self._input_rules()
        frames = {
            name: _select(frame, [*known[name], *rules.kinds_of(name)])
            if is_frame(frame) and known.get(name) is not None
            else frame
            for name, frame in X.items()
        }
        return Views(frames, mask=X.mask, sample_ids=X.sample_ids) if isinstance(X, Views) else frames

    def _check_no_kernels(self) -> None:
        kernels = [str(name) for name, one in zip(self.view_names_, self._kernel_views(), strict=True) if one]
        if kernels:
            raise ValueError(
                f"update needs features, but view {kernels[0]!r} is a kernel of the training samples, with which this "
                f"model cannot label the samples of another kernel. Fit a new model, and compare with lf.match."
            )

    def _check_all_views(self, views: Views) -> None:
        present = self._present(views)  # absent clusterings of a consensus have only unassigned samples
        observed = views.observed if present is None else views.observed & present
        absent = [name for name, seen in zip(views.names, observed.T, strict=True) if not seen.any()]
        if absent:
            raise ValueError(
                f"update needs all views of the model, but these are missing for all samples: "
                f"{', '.join(map(repr, absent))}. Fit a new model on the other views, and compare with lf.match."
            )


def _of_old_model(message: str) -> str:
    """A warning about new samples; the new model is fitted with categories that the old one does not know."""
    if "categories that were not in the training samples" not in message:
        return message
    used = "The old model takes them as missing. The new model uses them."
    return message.replace("They are taken as missing.", used)


def _kept_hints(n_before: int, kept: Hints | None) -> str:
    """Which hints of the old model are used, in a sentence."""
    n_kept = 0 if kept is None else len(kept.rows)
    return f"The hints of the old model were given again, for {n_kept} of its {n_before} samples with hints."


def _select(frame: Any, known: Iterable[Any]) -> Any:
    """The columns of a frame that are known, by name, in their order."""
    names = {str(one) for one in known}
    columns = columns_of(frame)
    kept = [one for one in columns if str(one) in names]
    return frame if len(kept) == len(columns) else select_columns(frame, kept)


def _named_views(X: Any, names: list[str]) -> Any:
    """A list of views under the names of the model, so that the new model has the same names."""
    is_list = isinstance(X, (list, tuple)) and len(X) == len(names)
    return dict(zip(names, X, strict=True)) if is_list else X
