"""Labels, confidence, novelty and memberships as a data frame or a file."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import to_numpy
from latefusion.outputs.schema import PREDICTING
from latefusion.outputs.table_files import write_table
from latefusion.outputs.targets import LABEL_COLUMNS, LABELS, MEMBERSHIP_COLUMN, UPDATE_COLUMNS
from latefusion.types import Array, Views
from latefusion.validation import is_frame
from latefusion.validation.frames import frame_like
from latefusion.validation.opening import parts
from latefusion.validation.sample_ids import index_of, sample_index, shown_list
from latefusion.validation.views import fingerprint


class Labels(NamedTuple):
    """Clusters of samples.

    Attributes
    ----------
    ids : ndarray of shape (n_samples,) or None
        None where samples have no ids but row numbers.
    labels : ndarray of shape (n_samples,)
    confidence : ndarray of shape (n_samples,) or None
        None where the method has none.
    novelty : ndarray of shape (n_samples,) or None
        None where the method has none. Above 1, a sample is farther from the training samples than 99 % of these are
        from each other.
    id_name : str
        Name of the column of ids.
    memberships : ndarray of shape (n_samples, n_clusters) or None
        None where they were not asked for.
    cluster_ids : tuple of int or None
        Ids of the clusters in the order of memberships.
    before, change : ndarray of shape (n_samples,) or None
        After an update: the cluster by the old model, and "kept", "moved" or "new".
    """

    ids: NDArray[Any] | None
    labels: NDArray[Any]
    confidence: NDArray[Any] | None = None
    novelty: NDArray[Any] | None = None
    id_name: str = "id"
    memberships: NDArray[Any] | None = None
    cluster_ids: tuple[int, ...] | None = None
    before: NDArray[Any] | None = None
    change: NDArray[Any] | None = None

    def called(self, id_name: str) -> Labels:
        """The same with another name for the ids. Unchanged without ids, or if another column has that name."""
        taken = not id_name or self.ids is None or id_name in self.columns()
        return self if taken else self._replace(id_name=id_name)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Label and, where known, confidence, novelty, what an update changed, and memberships, by name.

        Memberships are that in the own cluster, and one column per cluster.
        """
        names = (*LABEL_COLUMNS, *UPDATE_COLUMNS)
        columns = zip(names, (self.labels, self.confidence, self.novelty, self.before, self.change), strict=True)
        found = {name: column for name, column in columns if column is not None}
        if self.memberships is None:
            return found
        clusters = self.cluster_ids or tuple(range(self.memberships.shape[1]))
        positions = np.searchsorted(clusters, self.labels)
        own = np.take_along_axis(self.memberships, positions[:, None], axis=1)[:, 0]
        every = {
            f"{MEMBERSHIP_COLUMN}_{cluster}": one for cluster, one in zip(clusters, self.memberships.T, strict=True)
        }
        return {**found, MEMBERSHIP_COLUMN: own, **every}

    def table(self) -> dict[str, NDArray[Any]]:
        """Ids, then `columns`. Without ids, row numbers from 0."""
        return {self.id_name: np.arange(len(self.labels)) if self.ids is None else self.ids, **self.columns()}


def fitted_labels(model: Any, *, memberships: bool = False) -> Labels:
    """Labels of the training samples of a model, with memberships on request."""
    check_is_fitted(model)
    if memberships:
        check_has_memberships(model)
    confidence, novelty = (_on_host(getattr(model, name, None)) for name in ("confidence_", "novelty_"))
    found = Labels(getattr(model, "sample_ids_", None), to_numpy(model.labels_), confidence, novelty)
    return _with_memberships(found, model, model.memberships_) if memberships else found


def predicted_labels(model: Any, X: Any, *, memberships: bool = False) -> Labels:
    """Labels of new samples, with memberships on request."""
    check_can_predict(model)
    views = model.new_views(X)
    labels, confidence, novelty = map(to_numpy, model.predict_views(views))
    found = Labels(views.sample_ids, labels, confidence, novelty)
    return _with_memberships(found, model, model.views_memberships(views)) if memberships else found


def _with_memberships(found: Labels, model: Any, memberships: Any) -> Labels:
    return found._replace(memberships=to_numpy(memberships), cluster_ids=tuple(model.cluster_ids_.tolist()))


def check_has_memberships(model: Any) -> None:
    """Refuse a model without memberships."""
    if not can_predict(model):
        *some, last = (cls.__name__ for cls in PREDICTING)
        raise ValueError(f"{type(model).__name__} has no memberships. Only {', '.join(some)} and {last} have.")


def recognized_labels(model: Any, views: Views) -> tuple[NDArray[Any], bool]:
    """Labels of samples that may be those of `fit` or others.

    Parameters
    ----------
    model : fitted estimator
    views : Views
        As `new_views` of the model returns them.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Those of `fit` if the views are those of `fit`, else what the model predicts. Comparison methods, which do not
        predict, label samples with the ids of training samples.
    are_fitted : bool
        Whether they are those of `fit`, in the same order.
    """
    found = fitted_labels(model)
    if len(views) == len(found.labels) and model.input_schema_.fingerprint == fingerprint(views):
        return found.labels, True
    if can_predict(model):
        return to_numpy(model.predict_views(views, confidence=False, novelty=False)[0]), False
    if found.ids is None or views.sample_ids is None or not np.isin(views.sample_ids, found.ids).all():
        raise ValueError(
            f"{type(model).__name__} cannot label new samples, and X is not what it was fitted on: it was fitted on "
            f"{len(found.labels)} samples, and X has {len(views)} samples, or other values. Give the data of `fit`."
        )
    return found.labels[_rows_of(views.sample_ids, found.ids)], False


def can_predict(model: Any) -> bool:
    """Whether a model labels new samples. Comparison methods label their training samples only."""
    return hasattr(model, "predict")


def check_can_predict(model: Any) -> None:
    """Refuse a model that is not fitted or cannot label new samples."""
    check_is_fitted(model)
    if not can_predict(model):
        *some, last = (cls.__name__ for cls in PREDICTING)
        raise ValueError(f"{type(model).__name__} cannot label new samples. Only {', '.join(some)} and {last} can.")


def _on_host(values: Any) -> NDArray[Any] | None:
    return None if values is None else to_numpy(values)


def labels_frame(model: Any, X: Any, *, new: bool = False, memberships: bool = False) -> Any:
    """Labels, confidence and novelty of samples as a data frame of the same type as the input.

    Parameters
    ----------
    model : fitted estimator
    X : data frame, or list, dict or `Views` that contains one
        Training samples of the model, all or some, in any order if they have ids; with ``new=True`` new samples.
        Frames of pandas, polars, pyarrow and others that narwhals supports.
    new : bool, default=False
        Whether to predict. By default the labels are those of `fit`, and samples that were not in `fit` are an error.
    memberships : bool, default=False
        Whether to add ``membership``, that in the own cluster, and ``membership_0``, ``membership_1``, …, those in all
        clusters. A model that has not been asked for memberships before computes them.

    Returns
    -------
    data frame
        Of the type of the first frame in ``X``, with columns ``label`` and, where the method has them, ``confidence``
        and ``novelty``. A pandas frame has the index of the samples, with its name. Other frames have a column ``id``
        if the samples have ids.

    Examples
    --------
    >>> import pandas as pd
    >>> import latefusion as lf
    >>> views = lf.datasets.make_views(60, 3, random_state=0).views
    >>> people = [f"p{number}" for number in range(60)]
    >>> frames = {name: pd.DataFrame(array, index=people) for name, array in views.items()}
    >>> model = lf.GlobalAlignmentClustering(3, random_state=0).fit(frames)
    >>> lf.labels_frame(model, frames).loc[["p0", "p59"], "label"].shape
    (2,)
    """
    frame = _first_frame(X)
    found = (predicted_labels if new else _labels_of_fit)(model, X, memberships=memberships)
    if index_of(frame) is not None:
        return frame_like(found.columns(), frame, sample_index(parts(X), found.ids))
    return frame_like(({} if found.ids is None else {"id": found.ids}) | found.columns(), frame)


def _labels_of_fit(model: Any, X: Any, *, memberships: bool) -> Labels:
    """The labels of `fit` for the samples in X, in their order. Samples that were not in `fit` are refused."""
    found, views = fitted_labels(model, memberships=memberships), model.new_views(X)
    if found.ids is not None and views.sample_ids is not None:
        rows = _rows_of(views.sample_ids, found.ids)
        chosen: list[Any] = [one[rows] if isinstance(one, np.ndarray) else one for one in found]
        return Labels(*chosen)
    same = model.input_schema_.fingerprint in ("", fingerprint(views))  # models of chunked views have none
    if len(views) != len(found.labels) or not same:
        what = f"{len(views)} samples" if len(views) != len(found.labels) else "other values"
        raise ValueError(
            f"X has {what}, but the model was fitted on {len(found.labels)} samples, and there are no sample ids to "
            f"match them. Pass new=True to predict labels of new samples, or give the training data."
        )
    return found if views.sample_ids is None else found._replace(ids=views.sample_ids)


def _rows_of(ids: NDArray[Any], known: NDArray[Any]) -> NDArray[np.intp]:
    """The positions of samples among those of `fit`."""
    if np.array_equal(ids, known):
        return np.arange(len(known))
    row_of = {one: row for row, one in enumerate(known.tolist())}
    unknown = [one for one in ids.tolist() if one not in row_of]
    if unknown:
        raise ValueError(
            f"X has {len(unknown)} samples that the model was not fitted on: {shown_list(unknown)}. Pass new=True to "
            f"predict labels of new samples."
        )
    return np.array([row_of[one] for one in ids.tolist()], dtype=np.intp)


def _first_frame(X: Any) -> Array:
    for view in parts(X):
        if is_frame(view):
            return view
        if index_of(view) is not None:  # a series of pandas
            return view.to_frame()
    raise ValueError(
        "X contains no data frame, so the type to return is unknown. Use the arrays `labels_` and `confidence_`."
    )


def write_labels(found: Labels, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a table with the columns ``found.id_name``, ``label`` and, where known, ``confidence`` and ``novelty``.

    Parameters
    ----------
    found : Labels
        Without ids, samples are numbered from 0.
    path : str or path-like
        Ends in ``.csv``, ``.tsv``, ``.txt`` or ``.parquet``; without a suffix, the format is CSV. An existing table of
        labels is replaced.
    force : bool, default=False
        Whether to replace an existing file of another kind, too.
    """
    write_table(found.table(), path, LABELS, force=force)
