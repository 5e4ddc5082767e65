"""Comparison of `LateFusionClustering` with simple baselines."""

from __future__ import annotations

from typing import Any

from latefusion.estimators import LateFusionClustering
from latefusion.experiments.comparison import Comparison, fit_and_score, run_baselines, with_label_free_scores
from latefusion.experiments.protocol import OURS
from latefusion.progress import progress_range


def compare_baselines(
    X: Any,
    n_clusters: Any = "auto",
    *,
    target: Any = None,
    similarity: str = "auto",
    views: Any = None,
    random_state: Any = None,
) -> Comparison:
    """Compare `LateFusionClustering` with simple baselines on the same views.

    Parameters
    ----------
    X : list, dict or `Views` of arrays, one table, or kernels
        As in `LateFusionClustering`.
    n_clusters : int, "auto" or range, default="auto"
        With "auto" or a range, `LateFusionClustering` selects the number, and all baselines use it.
    target : array of shape (n_samples,), default=None
        Known classes. They are used for scores, and to select the single view that is shown, with a note.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels.
    views : mapping or sequence, default=None
        When X is one table: the columns of every view.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Comparison
        Prints as a table, in notebooks as HTML. Its rows are k-means on single views, k-means and spectral clustering
        on the concatenated views, kernel k-means on the mean kernel, and `LateFusionClustering` last. Besides the
        scores against known classes, every row has two label-free scores: ``"information"``, the criterion of
        `LateFusionClustering`, and ``"agreement"``, the adjusted Rand index with its labels.

    Examples
    --------
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0)
    >>> comparison = lf.compare_baselines(data.views, 3, random_state=0)
    >>> comparison
    method                information  ARI with ours  clusters  seconds
    --------------------  -----------  -------------  --------  -------
    KMeans on view_0      ...
    LateFusionClustering  ...
    >>> comparison[-1].method, comparison[-1].scores["agreement"]
    ('LateFusionClustering', 1.0)
    """
    if similarity not in ("auto", "precomputed"):
        raise ValueError(f"similarity must be 'auto' for features or 'precomputed' for kernels, got {similarity!r}.")
    model = LateFusionClustering(n_clusters, similarity=similarity, views=views, random_state=random_state)
    with progress_range(0.0, 0.5):
        ours = fit_and_score(OURS, model, X, target)
    if ours.labels is None:
        raise ValueError(ours.note.removeprefix("failed: "))
    with progress_range(0.5, 1.0):
        baselines = run_baselines(
            model.new_views(X),
            model.n_clusters_,
            target=target,
            random_state=random_state,
            kernels=similarity == "precomputed",
        )
    rows = with_label_free_scores([*baselines, ours], model.criterion(), ours.labels)
    reasons = [model.selection_.reason]
    if hasattr(model, "number_selection_"):
        reasons.insert(0, model.number_selection_.reason)
    return Comparison(rows, reasons)
