"""The lines that `LateFusionClustering` has to beat, next to it, with classes or without."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from latefusion.estimators import LateFusionClustering
from latefusion.experiments.comparison import (
    ComparisonRow,
    comparison_table,
    fit_and_score,
    honest_lines,
    with_label_free_scores,
)
from latefusion.experiments.protocol import OURS
from latefusion.progress import progress_range


def compare_baselines(
    X: Any,
    n_clusters: Any = "auto",
    *,
    target: Any = None,
    partition: str = "auto",
    views: Any = None,
    random_state: Any = None,
    file: TextIO | None = None,
) -> list[ComparisonRow]:
    """Print what plain methods make of the same views, next to `LateFusionClustering`.

    Parameters
    ----------
    X : list, dict or `Views` of arrays, one table, or kernels
        As `LateFusionClustering` takes it.
    n_clusters : int, "auto" or range, default="auto"
        Where it is to be found, every method is given the number that ours found.
    target : array of shape (n_samples,), default=None
        Known classes. They are used for scores, and for the choice of the single view that is shown, which is said.
    partition : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels.
    views : mapping or sequence, default=None
        When X is one table: the columns of every view.
    random_state : int, RandomState or None, default=None
    file : text stream, default=None
        Where to print; the standard output when None.

    Returns
    -------
    list of ComparisonRow
        Single views, all of them side by side, their mean kernel, and ours last. In the scores of each are, besides
        those against known classes, ``"information"``, by which ours was chosen, and ``"agreement"``, the adjusted Rand
        index with ours.

    Examples
    --------
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0)
    >>> rows = lf.compare_baselines(data.views, 3, random_state=0)
    method                ...
    >>> rows[-1].method, rows[-1].scores["agreement"]
    ('LateFusionClustering', 1.0)
    """
    if partition not in ("auto", "precomputed"):
        raise ValueError(f"partition must be 'auto' for features or 'precomputed' for kernels, got {partition!r}.")
    model = LateFusionClustering(n_clusters, partition=partition, views=views, random_state=random_state)
    with progress_range(0.0, 0.5):
        ours = fit_and_score(OURS, model, X, target)
    if ours.labels is None:
        raise ValueError(ours.note.removeprefix("failed: "))
    with progress_range(0.5, 1.0):
        lines = honest_lines(
            model.new_views(X),
            model.n_clusters_,
            target=target,
            random_state=random_state,
            kernels=partition == "precomputed",
        )
    rows = with_label_free_scores([*lines, ours], model.criterion(), ours.labels)
    reasons = [model.selection_.reason]
    if hasattr(model, "number_selection_"):
        reasons.insert(0, model.number_selection_.reason)
    print("\n".join([comparison_table(rows), "", *reasons]), file=file or sys.stdout)
    return rows
