"""Other clusterings of the same samples, to compare their outcomes with those of a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import take_rows, to_numpy
from latefusion.estimators import ConsensusClustering
from latefusion.experiments import run_baselines
from latefusion.interpretation.gather import ViewData, complete_samples, gather
from latefusion.types import Views

# Most samples that baselines are run on, since they need n × n matrices.
MOST_SAMPLES = 3000
# Fewest samples per cluster without missing views.
LEAST_PER_CLUSTER = 5


class Rivals(NamedTuple):
    """Other clusterings.

    Attributes
    ----------
    labels : dict of str to ndarray of shape (n_samples,)
        By name; -1 for samples without a cluster.
    notes : tuple of str
        What could not be computed.
    """

    labels: dict[str, NDArray[Any]]
    notes: tuple[str, ...] = ()


def view_clusterings(model: Any, X: Any = None) -> Rivals:
    """The clusters of every single view.

    Parameters
    ----------
    model : fitted estimator
    X : as in the ``fit`` of the model, default=None
        A `ConsensusClustering` needs it.

    Returns
    -------
    Rivals
        Empty for one view.
    """
    if getattr(model, "n_views_", 1) < 2:
        return Rivals({})
    if isinstance(model, ConsensusClustering):
        if X is None:
            return Rivals({}, ("The single clusterings are compared if they are given as views=X.",))
        found = model.partition_labels(X)[0]
        return Rivals({f"view {one.name}": np.where(one.assigned, np.asarray(one.labels), -1) for one in found})
    labels, notes = {}, []
    for name, own in zip(map(str, model.view_names_), model.view_labels().T, strict=True):
        if (own >= 0).any():
            labels[f"view {name}"] = own
        else:
            notes.append(f"View {name!r} has no clusters of its own in this model and is not compared.")
    return Rivals(labels, tuple(notes))


def baseline_clusterings(model: Any, X: Any, random_state: int) -> Rivals:
    """The clusters of simple methods on the same views, with as many clusters as the model.

    Parameters
    ----------
    model : fitted estimator
    X : as in the ``fit`` of the model
    random_state : int

    Returns
    -------
    Rivals
        On samples without missing views.
    """
    data = gather(model, X, single_views=False, as_given=False)
    kinds = {view.kind for view in data.views}
    if not (kinds <= {"features", "table"} or kinds == {"similarities"}):
        return Rivals({}, ("Baselines need views of features or of similarities only, and were not run.",))
    rows = complete_samples(data, MOST_SAMPLES, np.random.default_rng(random_state))
    if len(rows) < LEAST_PER_CLUSTER * len(data.clusters):
        return Rivals({}, (f"Only {len(rows)} samples have all views. Baselines were not run.",))
    views = Views({view.name: _take(view, rows) for view in data.views})
    found = run_baselines(views, len(data.clusters), random_state=random_state, kernels=kinds == {"similarities"})
    labels, notes = {}, []
    for row in found:
        if row.labels is None:
            notes.append(f"{row.method} {row.note}")
            continue
        labels[row.method] = np.full(data.n_samples, -1, dtype=np.intp)
        labels[row.method][rows] = np.unique(row.labels, return_inverse=True)[1]
    if len(rows) < data.n_samples:
        notes.append(
            f"Baselines were run on {len(rows)} of {data.n_samples} samples"
            + (" (all that have all views)." if len(rows) < MOST_SAMPLES else " without missing views.")
        )
    return Rivals(labels, tuple(notes))


def _take(view: ViewData, rows: NDArray[np.intp]) -> Any:
    """Some samples of a view; rows and columns of similarities."""
    array = view.array[rows] if issparse(view.array) else to_numpy(take_rows(view.array, rows))
    return array[:, rows] if view.kind == "similarities" else array
