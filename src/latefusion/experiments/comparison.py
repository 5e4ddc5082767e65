"""Run several clusterers on the same views, one after the other, and put what they found into one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans

from latefusion.baselines import METHODS
from latefusion.experiments.tables import format_table
from latefusion.metrics import adjusted_rand, clustering_scores
from latefusion.progress import progress_range, progress_steps
from latefusion.types import Views

SCORES = {
    "accuracy": "ACC",
    "nmi": "NMI",
    "purity": "purity",
    "ari": "ARI",
    "information": "information",
    "agreement": "ARI with ours",
}


class ComparisonRow(NamedTuple):
    """What one method found.

    Attributes
    ----------
    method : str
    labels : ndarray of shape (n_samples,) or None
        None when the method failed.
    seconds : float
    scores : dict of str to float
        Those against known classes; empty without, unless others were added.
    note : str
        Why it failed, or what the reader must know.
    """

    method: str
    labels: NDArray[Any] | None
    seconds: float
    scores: dict[str, float]
    note: str = ""


def compare_methods(
    X: Any,
    methods: Mapping[str, Any],
    *,
    target: Any = None,
) -> list[ComparisonRow]:
    """Fit every method on the same views.

    Parameters
    ----------
    X : list, dict or `Views` of arrays, or kernels
        As the estimators take it.
    methods : mapping of str to estimator
        Names and unfitted estimators; each is cloned.
    target : array of shape (n_samples,), default=None
        Known classes. They are used for scores and nothing else.

    Returns
    -------
    list of ComparisonRow
        In the order of ``methods``. A method that cannot work on these views gets a row that says why.
    """
    rows = []
    with progress_steps(len(methods)) as begin_step:
        for name, estimator in methods.items():
            begin_step(name)
            rows.append(fit_and_score(name, clone(estimator), X, target))
    return rows


def fit_and_score(name: str, estimator: Any, X: Any, target: Any = None) -> ComparisonRow:
    """Fit one estimator and describe what it found; a refusal becomes a note.

    Parameters
    ----------
    name : str
    estimator : estimator
        Fitted in place.
    X : as in `compare_methods`
    target : array of shape (n_samples,), default=None

    Returns
    -------
    ComparisonRow
    """
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            labels = estimator.fit_predict(X)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            return ComparisonRow(name, None, time.perf_counter() - start, {}, f"failed: {error}")
    seconds = time.perf_counter() - start
    note = "; ".join(dict.fromkeys(str(one.message).split(". ")[0] for one in caught))
    return ComparisonRow(name, labels, seconds, {} if target is None else clustering_scores(target, labels), note)


def honest_lines(
    views: Views, n_clusters: int, *, target: Any = None, random_state: Any = None, kernels: bool = False
) -> list[ComparisonRow]:
    """What two lines of scikit-learn give, which every multi-view method has to beat.

    Parameters
    ----------
    views : Views
    n_clusters : int
    target : array of shape (n_samples,), default=None
        Known classes, for scores. With them the best single view by accuracy is shown, and said to be chosen so.
    random_state : int, RandomState or None, default=None
    kernels : bool, default=False
        Whether the views are kernels, which then take the place of features everywhere.

    Returns
    -------
    list of ComparisonRow
        K-means on the best single view (all views without a target), on the concatenated views, nearest-neighbour
        spectral clustering of the concatenation, and kernel k-means of the mean kernel.
    """
    with progress_range(0.0, 0.5):
        single = single_view_lines(views, n_clusters, target=target, random_state=random_state, kernels=kernels)
    names = ("concat-kmeans", "concat-spectral", "A-MKKM")
    options = {"n_clusters": n_clusters, "random_state": random_state} | _given(kernels)
    joint = {name: METHODS[name](**options) for name in names}
    with progress_range(0.5, 1.0):
        return single + compare_methods(views, joint, target=target)


def single_view_lines(
    views: Views, n_clusters: int, *, target: Any = None, random_state: Any = None, kernels: bool = False
) -> list[ComparisonRow]:
    """K-means on every view alone; with known classes only the best of them, which is said.

    Parameters
    ----------
    views, n_clusters, target, random_state, kernels : as in `honest_lines`

    Returns
    -------
    list of ComparisonRow
    """
    rows = []
    with progress_steps(views.n_views) as begin_step:
        for name, array in views.items():
            begin_step(name)
            if kernels:
                alone = METHODS["A-MKKM"](n_clusters=n_clusters, random_state=random_state, **_given(kernels))
                rows.append(fit_and_score(f"kernel k-means on {name}", alone, [array], target))
            else:
                alone = KMeans(n_clusters, n_init=10, random_state=random_state)
                rows.append(fit_and_score(f"KMeans on {name}", alone, array, target))
    scored = [row for row in rows if row.scores]
    if not scored:  # no classes, or no view that could be clustered
        return rows
    best = max(scored, key=lambda row: row.scores["accuracy"])
    return [best._replace(seconds=sum(row.seconds for row in rows), note="view chosen with the classes")]


def _given(kernels: bool) -> dict[str, Any]:
    return {"partition": "precomputed"} if kernels else {}


def with_label_free_scores(
    rows: Sequence[ComparisonRow], score: Callable[[NDArray[Any]], float], ours: NDArray[Any]
) -> list[ComparisonRow]:
    """Rows with what can be said without classes.

    Parameters
    ----------
    rows : sequence of ComparisonRow
    score : callable
        From labels to a number: `LateFusionClustering.criterion` of the fitted model.
    ours : ndarray of shape (n_samples,)

    Returns
    -------
    list of ComparisonRow
        With ``"information"`` and ``"agreement"``, the adjusted Rand index with ours, among the scores.
    """
    return [
        row
        if row.labels is None
        else row._replace(
            scores=row.scores | {"information": score(row.labels), "agreement": adjusted_rand(ours, row.labels)}
        )
        for row in rows
    ]


def row_record(row: ComparisonRow) -> dict[str, Any]:
    """A row as JSON takes it."""
    found = None if row.labels is None else len(np.unique(row.labels))
    scores = {name: float(value) for name, value in row.scores.items()}
    return {"method": row.method, "clusters": found, "seconds": row.seconds, "scores": scores, "note": row.note}


def comparison_table(rows: list[ComparisonRow]) -> str:
    """Rows as text: the scores that there are, the number of clusters found, seconds, notes."""
    columns = [column for column in SCORES if any(column in row.scores for row in rows)]
    header = ["method", *[SCORES[column] for column in columns], "clusters", "seconds"]
    lines = []
    for row in rows:
        cells = [f"{row.scores[column]:.3f}" if column in row.scores else "-" for column in columns]
        found = "-" if row.labels is None else str(len(np.unique(row.labels)))
        lines.append([row.method, *cells, found, f"{row.seconds:.2f}"])
    text = format_table(header, lines).splitlines()
    notes = ["", "", *[row.note for row in rows]]
    return "\n".join(line + (f"  ({note})" if note else "") for line, note in zip(text, notes, strict=True))
