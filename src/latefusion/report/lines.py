"""What plain methods make of the same views, next to the model of the report."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import take_rows, to_numpy
from latefusion.estimators import LateFusionClustering
from latefusion.experiments.comparison import ComparisonRow, run_baselines
from latefusion.metrics import adjusted_rand, clustering_scores
from latefusion.report.findings import Findings, ViewFindings, complete_samples
from latefusion.types import Views

# Samples that plain methods are run on, as many as the search of `LateFusionClustering` looks at.
MOST_SAMPLES = 3000
# Complete samples per cluster without which a comparison says nothing.
LEAST_PER_CLUSTER = 5


class HonestLines(NamedTuple):
    """Rows of the comparison, ours last, and on how many samples.

    Attributes
    ----------
    rows : list of ComparisonRow
    n_samples : int
    """

    rows: list[ComparisonRow]
    n_samples: int


def plain_lines(findings: Findings) -> HonestLines | None:
    """Run plain methods on the samples that all views have, and score them beside the model.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    HonestLines or None
        None where plain methods do not apply: to views that are labels, and where too few samples are complete.
    """
    model, n_clusters = findings.model, len(findings.clusters)
    kinds = {view.kind for view in findings.views}
    if kinds not in ({"features"}, {"kernel"}):
        return None
    searched = _searched(findings)
    rows = complete_samples(findings, MOST_SAMPLES, np.random.default_rng(0)) if searched is None else searched
    if len(rows) < LEAST_PER_CLUSTER * n_clusters:
        return None
    target = None if findings.target is None else findings.target[rows]
    ours = findings.labels[rows]
    own = ComparisonRow(type(model).__name__, ours, np.nan, {} if target is None else clustering_scores(target, ours))
    kernels = kinds == {"kernel"}
    views = Views({view.name: _take(view, rows) for view in findings.views})
    lines = run_baselines(views, n_clusters, target=target, random_state=0, kernels=kernels)
    information = None if searched is None else model.criterion()
    scored = []
    for row in [*lines, own]:
        if row.labels is None:
            scored.append(row)
            continue
        more = {"agreement": adjusted_rand(ours, row.labels)}
        if information is not None:
            everywhere = np.full(findings.n_samples, row.labels[0])
            everywhere[rows] = row.labels
            more["information"] = information(everywhere)
        scored.append(row._replace(scores=row.scores | more))
    return HonestLines(scored, len(rows))


def _searched(findings: Findings) -> NDArray[np.intp] | None:
    """The samples that the search looked at, on which its criterion can be computed."""
    if not isinstance(findings.model, LateFusionClustering) or not findings.observed.all():
        return None
    return findings.model.searched_samples()


def _take(view: ViewFindings, rows: NDArray[np.intp]) -> Any:
    """A view of some samples; of a kernel both rows and columns."""
    array = view.array[rows] if issparse(view.array) else to_numpy(take_rows(view.array, rows))
    return array[:, rows] if view.kind == "kernel" else array
