"""Simple methods on the same views, for comparison with the model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import take_rows, to_numpy
from latefusion.estimators import LateFusionClustering
from latefusion.experiments import ComparisonRow, comparison
from latefusion.interpretation.gather import ModelData, ViewData, complete_samples
from latefusion.metrics import adjusted_rand, clustering_scores
from latefusion.types import Views

# Most samples that baselines are run on: as many as the search of `LateFusionClustering` uses.
MOST_SAMPLES = 3000
# Fewest samples per cluster without missing views for a comparison.
LEAST_PER_CLUSTER = 5


class Baselines(NamedTuple):
    """Results of the baselines, and of the model as the last row.

    Attributes
    ----------
    rows : list of ComparisonRow
    n_samples : int
        Samples that they were computed on.
    """

    rows: list[ComparisonRow]
    n_samples: int


def run_baselines(data: ModelData) -> Baselines | None:
    """Run baselines on samples without missing views, and compare them with the model.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    Baselines or None
        None for views that are labels, and for too few samples without missing views.
    """
    model, n_clusters = data.model, len(data.clusters)
    kinds = {view.kind for view in data.views}
    if kinds not in ({"features"}, {"similarities"}):
        return None
    searched = _searched_samples(data)
    rows = complete_samples(data, MOST_SAMPLES, np.random.default_rng(0)) if searched is None else searched
    if len(rows) < LEAST_PER_CLUSTER * n_clusters:
        return None
    target = None if data.target is None else data.target[rows]
    ours = data.labels[rows]
    own = ComparisonRow(type(model).__name__, ours, np.nan, {} if target is None else clustering_scores(target, ours))
    views = Views({view.name: _take(view, rows) for view in data.views})
    found = comparison.run_baselines(
        views, n_clusters, target=target, random_state=0, kernels=kinds == {"similarities"}
    )
    criterion = None if searched is None else model.criterion()
    scored = []
    for row in [*found, own]:
        scores = dict(row.scores)
        if row.labels is not None:
            scores["agreement"] = adjusted_rand(ours, row.labels)
        if row.labels is not None and criterion is not None:
            everywhere = np.full(data.n_samples, row.labels[0])
            everywhere[rows] = row.labels
            scores["information"] = criterion(everywhere)
        scored.append(row._replace(scores=scores))
    return Baselines(scored, len(rows))


def _searched_samples(data: ModelData) -> NDArray[np.intp] | None:
    """Samples on which the model's own criterion can be computed."""
    if not isinstance(data.model, LateFusionClustering) or not data.observed.all():
        return None
    return data.model.searched_samples()


def _take(view: ViewData, rows: NDArray[np.intp]) -> Any:
    """Some samples of a view; rows and columns of similarities."""
    array = view.array[rows] if issparse(view.array) else to_numpy(take_rows(view.array, rows))
    return array[:, rows] if view.kind == "similarities" else array
