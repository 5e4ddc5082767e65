"""Run several clusterers on the same views and compare their results in one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans

from latefusion.baselines import METHODS
from latefusion.metrics import adjusted_rand, clustering_scores
from latefusion.progress import progress_range, progress_steps
from latefusion.results import ResultTable
from latefusion.tables import Entry, Table, format_table
from latefusion.types import Views

# Scores of a row, and the headings of their columns.
SCORES = {
    "accuracy": "ACC",
    "nmi": "NMI",
    "purity": "purity",
    "ari": "ARI",
    "information": "information",
    "agreement": "ARI with ours",
}


class ComparisonRow(NamedTuple):
    """The result of one method.

    Attributes
    ----------
    method : str
    labels : ndarray of shape (n_samples,) or None
        None if the method failed.
    seconds : float
    scores : dict of str to float
        Scores against known classes, where there are any, and label-free scores, where they were computed.
    note : str
        A warning, the reason of a failure, or a remark about the result.
    """

    method: str
    labels: NDArray[Any] | None
    seconds: float
    scores: dict[str, float]
    note: str = ""

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, None if the method failed."""
        return None if self.labels is None else len(np.unique(self.labels))


class Comparison(Sequence[ComparisonRow]):
    """The results of several methods, printed as a table.

    A sequence of `ComparisonRow`. Columns are selected by name: ``comparison["seconds"]``. In a terminal it prints
    as text, in a notebook as an HTML table.

    Parameters
    ----------
    rows : iterable of ComparisonRow
    remarks : iterable of str, default=()
        Sentences below the table.

    Attributes
    ----------
    rows : tuple of ComparisonRow
    remarks : tuple of str
    """

    def __init__(self, rows: Iterable[ComparisonRow], remarks: Iterable[str] = ()) -> None:
        self.rows = tuple(rows)
        self.remarks = tuple(remarks)

    @overload
    def __getitem__(self, position: int) -> ComparisonRow: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[ComparisonRow, ...]: ...

    @overload
    def __getitem__(self, position: str) -> NDArray[Any]: ...

    def __getitem__(self, position: int | slice | str) -> ComparisonRow | tuple[ComparisonRow, ...] | NDArray[Any]:
        """A row by number, rows by a slice, or a column by name."""
        return self.table()[position] if isinstance(position, str) else self.rows[position]

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by name: "method", one per score, "clusters", "seconds" and "note"."""
        return self.table().columns

    def table(self) -> ResultTable:
        """The rows as a table.

        Returns
        -------
        ResultTable
            Scores that a row does not have are NaN.
        """
        names, records = self._score_names(), self.records()
        scores = {name: [record["scores"].get(name, np.nan) for record in records] for name in names}
        others = {name: [record[name] for record in records] for name in ("clusters", "seconds", "note")}
        return ResultTable({"method": [record["method"] for record in records], **scores, **others}, self.remarks)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        text = format_table(*self._cells())
        return "\n".join([text, "", *self.remarks]) if self.remarks else text

    def _repr_html_(self) -> str:
        header, rows = self._cells()
        return Table("", header, [[Entry(cell) for cell in row] for row in rows], list(self.remarks)).render("html")

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain Python values, for example for JSON.

        Returns
        -------
        list of dict
            With the keys "method", "clusters", "seconds", "scores" and "note". The labels are left out.
        """
        return [
            {
                "method": row.method,
                "clusters": row.n_clusters,
                "seconds": row.seconds,
                "scores": {name: float(value) for name, value in row.scores.items()},
                "note": row.note,
            }
            for row in self.rows
        ]

    def to_frame(self) -> Any:
        """The rows as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            Indexed by method, with one column per score, and the columns "clusters", "seconds" and "note".
        """
        return self.table().to_frame().set_index("method").astype({"clusters": "Int64"})

    def _score_names(self) -> list[str]:
        return [name for name in SCORES if any(name in row.scores for row in self.rows)]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows as text. There is a column of notes if any row has one."""
        names = self._score_names()
        has_notes = any(row.note for row in self.rows)
        header = ["method", *[SCORES[name] for name in names], "clusters", "seconds", *["note"] * has_notes]
        rows = []
        for row in self.rows:
            scores = [f"{row.scores[name]:.3f}" if name in row.scores else "-" for name in names]
            found = "-" if row.n_clusters is None else str(row.n_clusters)
            rows.append([row.method, *scores, found, f"{row.seconds:.2f}", *[row.note] * has_notes])
        return header, rows


def compare_methods(
    X: Any,
    methods: Mapping[str, Any],
    *,
    target: Any = None,
) -> Comparison:
    """Fit several methods on the same views.

    Parameters
    ----------
    X : list, dict or `Views` of arrays, or kernels
        As the estimators take it.
    methods : mapping of str to estimator
        Names and unfitted estimators; each is cloned.
    target : array of shape (n_samples,), default=None
        Known classes. They are used for scores only.

    Returns
    -------
    Comparison
        In the order of ``methods``. The note of a method that fails on these views gives the reason.
    """
    rows = []
    with progress_steps(len(methods)) as begin_step:
        for name, estimator in methods.items():
            begin_step(name)
            rows.append(fit_and_score(name, clone(estimator), X, target))
    return Comparison(rows)


def fit_and_score(name: str, estimator: Any, X: Any, target: Any = None) -> ComparisonRow:
    """Fit one estimator and return its row; errors and warnings become its note.

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
            seconds = time.perf_counter() - start
            scores = {} if target is None else clustering_scores(target, labels)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            return ComparisonRow(name, None, time.perf_counter() - start, {}, f"failed: {error}")
        except Exception as error:  # noqa: BLE001 (methods of other packages may raise anything)
            reason = f"failed: {type(error).__name__}: {error}"
            return ComparisonRow(name, None, time.perf_counter() - start, {}, reason)
    note = "; ".join(dict.fromkeys(str(one.message).split(". ")[0] for one in caught))
    return ComparisonRow(name, labels, seconds, scores, note)


def run_baselines(
    views: Views, n_clusters: int, *, target: Any = None, random_state: Any = None, kernels: bool = False
) -> list[ComparisonRow]:
    """Fit simple baselines that a multi-view method should outperform.

    Parameters
    ----------
    views : Views
    n_clusters : int
    target : array of shape (n_samples,), default=None
        Known classes, for scores. If given, only the single view with the best accuracy is returned, with a note.
    random_state : int, RandomState or None, default=None
    kernels : bool, default=False
        Whether the views are kernels instead of features.

    Returns
    -------
    list of ComparisonRow
        K-means on single views, k-means and nearest-neighbour spectral clustering on the concatenated views, and kernel
        k-means on the mean kernel.
    """
    with progress_range(0.0, 0.5):
        single = run_single_views(views, n_clusters, target=target, random_state=random_state, kernels=kernels)
    names = ("concat-kmeans", "concat-spectral", "A-MKKM")
    options = {"n_clusters": n_clusters, "random_state": random_state} | _given(kernels)
    joint = {name: METHODS[name](**options) for name in names}
    with progress_range(0.5, 1.0):
        return [*single, *compare_methods(views, joint, target=target)]


def run_single_views(
    views: Views, n_clusters: int, *, target: Any = None, random_state: Any = None, kernels: bool = False
) -> list[ComparisonRow]:
    """K-means on every view alone; with known classes, only the view with the best accuracy.

    Parameters
    ----------
    views, n_clusters, target, random_state, kernels : as in `run_baselines`

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
    if not scored:  # there are no classes, or all views failed
        return rows
    best = max(scored, key=lambda row: row.scores["accuracy"])
    return [best._replace(seconds=sum(row.seconds for row in rows), note="view chosen with the classes")]


def _given(kernels: bool) -> dict[str, Any]:
    return {"similarity": "precomputed"} if kernels else {}


def with_label_free_scores(
    rows: Sequence[ComparisonRow], score: Callable[[NDArray[Any]], float], ours: NDArray[Any]
) -> list[ComparisonRow]:
    """Add the scores that need no classes.

    Parameters
    ----------
    rows : sequence of ComparisonRow
    score : callable
        From labels to a number: `LateFusionClustering.criterion` of the fitted model.
    ours : ndarray of shape (n_samples,)
        Labels of the fitted model.

    Returns
    -------
    list of ComparisonRow
        With two more scores: ``"information"``, the value of ``score``, and ``"agreement"``, the adjusted Rand index
        with ``ours``.
    """
    return [
        row
        if row.labels is None
        else row._replace(
            scores=row.scores | {"information": score(row.labels), "agreement": adjusted_rand(ours, row.labels)}
        )
        for row in rows
    ]
