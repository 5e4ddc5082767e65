"""Labels for valid p-values: one half of the samples is clustered, the other half is labelled without the tested view.

New data alone would not be enough. A sample gets its label because of its features, so these differ between clusters in
every half, also in pure noise that is cut into two parts. Therefore the labels with which a view is compared come from
the other views. If a feature is independent of these, it is independent of the labels, and its p-values are uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from latefusion.arrays import is_device_array, to_numpy
from latefusion.interpretation.gather import ModelData, shorten
from latefusion.metrics import adjusted_rand, matched_pairs
from latefusion.outputs.labels import can_predict
from latefusion.types import Views
from latefusion.validation import per_view

# Samples per cluster in the half that is clustered, at least.
LEAST_SAMPLES = 2
# Below this adjusted Rand index, labels describe other clusters than those of the model.
LOW_AGREEMENT = 0.5


class HalfLabels(NamedTuple):
    """Labels of the half of the samples that took no part in finding the clusters.

    Attributes
    ----------
    labels : dict of str to ndarray of shape (n_samples,)
        For every view, numbers of the clusters of the model by the other views; -1 for the samples of the other half,
        and for samples without another view.
    notes : list of str
        What was done, and how well the labels agree with those of the model.
    """

    labels: dict[str, NDArray[np.intp]]
    notes: list[str]


def label_half(data: ModelData, X: Any, random_state: Any) -> HalfLabels:
    """Cluster a random half of the samples again, and label the other half, once without each view.

    Parameters
    ----------
    data : ModelData
    X : views of the samples, as they were given
    random_state : int, RandomState or None
        For the division.

    Returns
    -------
    HalfLabels
        The clusters of the half have the numbers of the most similar clusters of the model.
    """
    _check(data)
    n_clusters = len(data.clusters)
    order = check_random_state(random_state).permutation(data.n_samples)
    first, second = (np.sort(part) for part in np.array_split(order, 2))
    given = _on_host(data.model.given_views(X))
    try:
        half = _unfitted(data.model, n_clusters, given.names).fit(given[first])
        views = half.new_views(given[second])
    except ValueError as error:
        raise ValueError(f"honest=True could not cluster one half of the samples: {error}") from error
    values, own = np.unique(to_numpy(half.labels_), return_inverse=True)
    cluster_of = _matched(own, data.labels[first], len(values), n_clusters)
    labels = {view.name: np.full(data.n_samples, -1, dtype=np.intp) for view in data.views}
    observed = {view.name: view.observed[second] for view in data.views}
    for name in views.names:
        hidden, rows = _without(views, name, np.stack([observed[one] for one in views.names], axis=1))
        if len(rows):
            found = to_numpy(half.predict_views(hidden[rows], confidence=False, novelty=False)[0])
            labels[name][second[rows]] = cluster_of[np.searchsorted(values, found)]
    return HalfLabels(labels, _notes(data, labels, len(first), len(second)))


def _on_host(views: Views) -> Views:
    """The views with NumPy arrays in place of tensors, for which no view may be missing."""
    arrays = [to_numpy(one) if is_device_array(one) else one for one in views.arrays]
    return Views(arrays, views.names, views.mask, views.sample_ids)


def _unfitted(model: Any, n_clusters: int, names: Sequence[str]) -> Any:
    """A copy of the model with the same parameters, for views that have been separated."""
    options: dict[str, Any] = {"n_clusters": n_clusters}
    parameters, kinds = model.get_params(deep=False), dict(_kinds(model))
    if "views" in parameters:
        options["views"] = None
    if "labels" in kinds.values():  # as one column, labels are not recognized again
        specs = per_view(parameters["similarity"], list(kinds), "similarity", default="auto")
        options["similarity"] = {
            name: "labels" if kinds[name] == "labels" and isinstance(spec, str) else spec
            for name, spec in zip(kinds, specs, strict=True)
            if name in names
        }
    return clone(model).set_params(**options)


def _without(views: Views, name: str, mask: NDArray[np.bool_]) -> tuple[Views, NDArray[np.intp]]:
    """The views with one of them missing for all samples, and the samples that have another one."""
    arrays, position = list(views.arrays), views.names.index(name)
    own = arrays[position]
    arrays[position] = csr_array(own.shape, dtype=own.dtype) if issparse(own) else np.zeros_like(own)
    mask[:, position] = False
    return Views(arrays, views.names, mask, views.sample_ids), np.flatnonzero(mask.any(axis=1))


def _check(data: ModelData) -> None:
    name = type(data.model).__name__
    if not can_predict(data.model):
        raise ValueError(f"honest=True needs a model that labels new samples. {name} cannot: leave out honest=True.")
    kernels = [view.name for view in data.views if view.kind == "similarities"]
    kernels += [one for one, kind in _kinds(data.model) if kind == "precomputed" and one not in kernels]
    if kernels:
        raise ValueError(
            f"honest=True clusters one half of the samples again, which needs the features of all views, but view "
            f"{kernels[0]!r} is a matrix of similarities. Leave out honest=True, or fit on features."
        )
    if sum(view.observed.any() for view in data.views) < 2:
        raise ValueError(
            "honest=True labels samples by the views that are not tested, but there is only one view. Divide its "
            "features into several views, or leave out honest=True."
        )
    if data.n_samples // 2 < LEAST_SAMPLES * len(data.clusters):
        raise ValueError(
            f"honest=True clusters one half of the samples, but {data.n_samples} samples are too few for "
            f"{len(data.clusters)} clusters. Leave out honest=True."
        )


def _kinds(model: Any) -> list[tuple[str, str]]:
    schema = model.input_schema_
    return list(zip(schema.names, schema.kinds, strict=True)) if hasattr(schema, "kinds") else []


def _matched(own: NDArray[np.intp], labels: NDArray[np.intp], n_own: int, n_clusters: int) -> NDArray[np.intp]:
    """The cluster of the model for every cluster of the half: together they have the most samples in common.

    The half that is tested takes no part.
    """
    common = np.zeros((n_own, n_clusters), dtype=np.intp)
    np.add.at(common, (own, labels), 1)
    return matched_pairs(common)[1]


def _notes(data: ModelData, labels: dict[str, NDArray[np.intp]], n_first: int, n_second: int) -> list[str]:
    agreements = {
        name: adjusted_rand(data.labels[own >= 0], own[own >= 0]) for name, own in labels.items() if (own >= 0).any()
    }
    shown = shorten([f"{value:.2f} without {name}" for name, value in agreements.items()], 5)
    notes = [
        f"Honest p-values: {n_first} random samples were clustered again into {len(data.clusters)} clusters. The other "
        f"{n_second} samples were labeled by the views other than the compared one, so that p-values are valid. "
        f"Adjusted Rand index of these labels and those of the model: {shown}."
    ]
    low = [name for name, value in agreements.items() if value < LOW_AGREEMENT]
    if low:
        notes.append(
            f"Without {shorten(low, 5)} the labels are other clusters than those of the model, so these p-values say "
            f"little about the latter."
        )
    return notes
