"""Do clusters differ in an outcome? Tests of a fitted model against a table that was not used in the fit."""

from __future__ import annotations

import html
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import to_numpy
from latefusion.interpretation.outcome_rivals import Rivals, baseline_clusterings, view_clusterings
from latefusion.interpretation.outcome_samples import aligned
from latefusion.interpretation.outcome_table import OutcomeTable, read_outcomes
from latefusion.interpretation.outcome_tests import (
    ClusterFinding,
    Clustering,
    ColumnTest,
    OutcomeTester,
    SurvivalCurves,
    clustering_of,
    run_tests,
)
from latefusion.metrics import benjamini_hochberg
from latefusion.progress import progress_range, progress_steps
from latefusion.results import ResultTable, shown_value
from latefusion.validation.sample_ids import ids_of

FINDING_NOTE = (
    "inside, outside: the cluster and all other samples; median survival time, share of a category, or median of a "
    "number or date. Categories are listed where they are more frequent inside. lower, upper: 95 % interval. "
    "p_adjusted: false discovery rate over all clusters and columns."
)
COMPARISON_NOTE = (
    "smallest: samples in the smallest cluster. significant: columns with an adjusted p of at most 0.05. The p-values "
    "are not adjusted. common samples: those that all other rows have."
)
# Findings with a larger adjusted p are not printed.
LEVEL = 0.05
SHOWN_FINDINGS = 10
# Fewer samples in the table are perhaps a mistake.
FEW_SAMPLES = 5
# Columns of p-values that a comparison prints.
SHOWN_COLUMNS = 6
REWARDS = (
    "A small p means that clusters differ in the outcome, not that a clustering is better. Compare p-values at equal "
    "numbers of clusters and samples: more clusters can isolate a few extreme samples, and each number asks another "
    "question. The smallest of many p-values is small by chance: among 10 clusterings without any relation to the "
    "outcome, at least one has p < 0.05 in 40 % of the cases."
)


@dataclass(frozen=True, repr=False, eq=False)
class Outcome:
    """How the clusters of a model differ in a table of outcomes.

    In a terminal it prints as text, in a notebook as HTML.

    Attributes
    ----------
    survival : SurvivalCurves or None
        Kaplan–Meier curves, hazard ratios and the log-rank test; None if the table has no survival.
    tests : ResultTable
        One row per column: its kind, the test with its statistic and p, the effect size, p adjusted for the false
        discovery rate over all columns, and the number of samples.
    clusters : ResultTable
        Every cluster against all other samples, in every column: hazard ratio, odds ratio or AUC, and p. Adjusted over
        all rows, sorted by p.
    comparison : ResultTable
        One row per clustering: the model, single views, baselines and others. ``p column`` is the p-value of each
        column; ``significant`` counts columns whose adjusted p is at most 0.05.
    notes : tuple of str
        What was recognized in the table, and what was left out.
    clustering : Clustering
        The clusters that were compared.
    table : OutcomeTable
        The columns in the order of the samples.
    """

    survival: SurvivalCurves | None
    tests: ResultTable
    clusters: ResultTable
    comparison: ResultTable
    notes: tuple[str, ...]
    clustering: Clustering
    table: OutcomeTable

    def __repr__(self) -> str:
        parts = [f"{title}\n{table!r}" for title, table in self.parts()]
        noted = ["\n".join(["Notes on the table:", *[f"- {note}" for note in self.notes]])] * bool(self.notes)
        return "\n\n".join([*parts, *noted])

    def _repr_html_(self) -> str:
        parts = [f"<h4>{html.escape(title)}</h4>\n{table._repr_html_()}" for title, table in self.parts()]
        items = "".join(f"<li>{html.escape(note)}</li>\n" for note in self.notes)
        return "\n".join([*parts, *[f"<h4>Notes on the table</h4>\n<ul>\n{items}</ul>"] * bool(items)])

    def to_frame(self) -> Any:
        """The tests as a pandas data frame, indexed by column.

        Returns
        -------
        pandas.DataFrame
        """
        return self.tests.to_frame().set_index("column")

    def records(self) -> dict[str, Any]:
        """All tables as plain Python values, for example for JSON.

        Returns
        -------
        dict
        """
        return {
            "survival": None if self.survival is None else survival_table(self.survival).records(),
            "tests": self.tests.records(),
            "clusters": self.clusters.records(),
            "comparison": self.comparison.records(),
            "notes": list(self.notes),
        }

    def parts(self) -> list[tuple[str, ResultTable]]:
        """Titles and tables that are printed: only findings and columns that a reader needs.

        Returns
        -------
        list of (str, ResultTable)
        """
        parts = [("Do the clusters differ?", self.tests)]
        if self.survival is not None:
            parts.insert(
                0, (f"Survival ({self.survival.time_name}, {self.survival.event_name})", survival_table(self.survival))
            )
        found = self.clusters[self.clusters["p_adjusted"] <= LEVEL] if len(self.clusters) else self.clusters
        if len(found):
            hidden = len(found) - SHOWN_FINDINGS
            notes = [f"{hidden} more with an adjusted p of at most {LEVEL:g} in `clusters`."] * (hidden > 0)
            shown = ResultTable(found[:SHOWN_FINDINGS].columns, [*notes, *found.notes])
            parts.append(("What is different in which cluster", shown))
        if len(self.comparison) > 1:
            columns = dict(list(self.comparison.columns.items())[: 5 + SHOWN_COLUMNS])
            hidden = len(self.comparison.columns) - len(columns)
            more = [f"{hidden} more column{'s' * (hidden > 1)} in `comparison`."] * (hidden > 0)
            notes = [*self.comparison.notes, *more]
            parts.append(("Does fusion help?", ResultTable(columns, notes)))
        return parts


def outcome(
    model_or_labels: Any,
    table: Any,
    *,
    survival: tuple[str, str] | bool | None = None,
    n_permutations: int = 9999,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    views: Any = None,
    baselines: bool = False,
    others: Mapping[str, Any] | None = None,
    sample_ids: Any = None,
    random_state: Any = 0,
) -> Outcome:
    """Test whether clusters differ in survival, categories and numbers that were not used in the fit.

    Parameters
    ----------
    model_or_labels : fitted estimator, or array-like of shape (n_samples,)
        Labels -1, None and NaN are samples without a cluster.
    table : data frame, dict of str to array, series or array of shape (n_samples,)
        A frame has the sample ids as its index or in a column, in any order; some may be absent. Series of pandas with
        ids are matched by id; other arrays are in the order of the samples. Kinds of columns are recognized as in views
        that are tables.
    survival : (str, str), False or None, default=None
        Columns of times and events (0/1, True/False, alive/dead). By default they are recognized by their names, such
        as time and event, OS.time and OS, or days_to_death and vital_status. False means that survival is
        not tested.
    n_permutations : int, default=9999
        For all p-values that are not exact. The smallest possible p is 1 / (n_permutations + 1).
    columns : sequence of str or mapping of str to str, default=None
        Columns to test, or their kinds ("number", "category", "ordered", "date" or "duration"). By default all.
    views : as in the ``fit`` of the model, default=None
        The views that the model was fitted on, for ``baselines``.
    baselines : bool, default=False
        Whether to compare with the clusters of simple methods on ``views``.
    others : mapping of str to array-like of shape (n_samples,), default=None
        Further clusterings to compare with, by name.
    sample_ids : sequence of shape (n_samples,), default=None
        By default those of the model, or the index of the labels.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    Outcome

    Notes
    -----
    Survival is compared by the log-rank test, categories by the test of Fisher, Freeman and Halton, numbers and dates
    by the test of Kruskal and Wallis. All p-values come from permutations of the clusters, which hold for clusters of
    any size, or are exact. A permutation p of the log-rank test assumes that clusters have the same censoring.

    Examples
    --------
    >>> import numpy as np
    >>> import latefusion as lf
    >>> labels = np.repeat([0, 1], 20)
    >>> table = {"time": np.arange(40) % 20 + 9 * labels, "event": np.ones(40), "sex": np.tile(["f", "m"], 20)}
    >>> found = lf.outcome(labels, table)
    >>> found.tests["column"].tolist(), (found.tests["p"] < 0.05).tolist()
    (['survival', 'sex'], [True, False])
    >>> print(found.survival.hazard_ratios[0])
    4.59 (2.12–9.93)
    """
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, (int, np.integer)) or n_permutations < 1:
        raise ValueError(f"n_permutations must be an integer >= 1, got {n_permutations!r}.")
    if others is not None and not isinstance(others, Mapping):
        raise TypeError(
            f"others must be a dict of labels by name, got {type(others).__name__}. Write {{'name': labels}}."
        )
    if baselines and views is None:
        raise ValueError("baselines=True needs the views that the model was fitted on. Give them as views=X.")
    model, labels, ids = opened(model_or_labels, sample_ids)
    clustering = clustering_of(labels)
    if len(clustering.clusters) < 2:
        found = f"only the cluster {clustering.clusters[0]!r}" if clustering.clusters else "no cluster"
        raise ValueError(f"An outcome compares at least two clusters, but the labels have {found}.")
    seed = _seed(random_state)
    read = read_outcomes(table, ids, clustering.assigned, survival=survival, columns=columns)
    if read.problem:
        warnings.warn(read.problem, stacklevel=2)
    with progress_range(0.0, 0.3):
        curves, tests, findings = run_tests(OutcomeTester(clustering, n_permutations, seed), read)
    rivals = _rivals(model, views, baselines, others, ids, len(labels), seed)
    name = "labels" if model is None else type(model).__name__
    shared = _on_common_samples(labels, clustering, rivals, read.present)
    rivals = rivals if shared is None else Rivals({f"{name}, common samples": shared} | rivals.labels, rivals.notes)
    with progress_range(0.3, 1.0):
        comparison = _comparison({name: (clustering, tests)}, rivals, read, n_permutations, seed)
    notes = (*read.notes, *_cluster_notes(clustering, read), *rivals.notes)
    tables = (_test_table(tests, n_permutations), _finding_table(findings), comparison)
    return Outcome(curves, *tables, notes, clustering, read)


def survival_table(curves: SurvivalCurves) -> ResultTable:
    """Numbers of samples and events, median survival and hazard ratio of every cluster.

    Parameters
    ----------
    curves : SurvivalCurves

    Returns
    -------
    ResultTable
    """
    test, clusters = curves.test, list(curves.curves)
    columns: dict[str, Any] = {
        "cluster": clusters,
        "samples": [int(one.at_risk[0]) for one in curves.curves.values()],
        "events": [int(one.events.sum()) for one in curves.curves.values()],
    }
    if test is not None:
        columns["expected"] = test.expected
    columns["median"] = [one.median for one in curves.curves.values()]
    if test is not None:
        ratios = curves.hazard_ratios.values()
        columns |= {"hazard_ratio": [one.ratio for one in ratios], "lower": [one.lower for one in ratios]}
        columns |= {"upper": [one.upper for one in ratios], "p": test.group_p_values}
    notes = ["Fewer than two clusters have samples with known survival."]
    if test is not None and test.degrees_of_freedom == 0:
        notes = ["The log-rank test cannot compare the clusters: no event while two clusters are under observation."]
    elif test is not None:
        notes = [
            f"Log-rank test of all clusters: permutation p {shown_value(test.p_value)}; chi-squared "
            f"{shown_value(test.statistic)}, df {test.degrees_of_freedom}, asymptotic p "
            f"{shown_value(test.p_asymptotic)}. median: median survival time in the unit of the table. Hazard ratios "
            f"compare a cluster with all others; lower, upper: 95 % interval.",
        ]
    return ResultTable(columns, notes, {"median": _median})


def opened(model_or_labels: Any, sample_ids: Any) -> tuple[Any, Any, Any]:
    """The model or None, labels, and ids of the samples or None.

    Parameters
    ----------
    model_or_labels : fitted estimator, or array-like of shape (n_samples,)
    sample_ids : sequence of shape (n_samples,) or None

    Returns
    -------
    model : fitted estimator or None
    labels : ndarray of shape (n_samples,)
    ids : sequence of shape (n_samples,) or None
    """
    if hasattr(model_or_labels, "fit"):
        check_is_fitted(model_or_labels)
        model, labels = model_or_labels, to_numpy(model_or_labels.labels_)
        ids = getattr(model, "sample_ids_", None)
    else:
        model, labels, ids = None, np.asarray(model_or_labels), ids_of(model_or_labels)
    if sample_ids is not None:
        ids = list(sample_ids)
        if len(ids) != len(labels):
            raise ValueError(f"sample_ids has {len(ids)} values for {len(labels)} labels. Give one per sample.")
    return model, labels, ids


def _seed(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _rivals(model: Any, views: Any, baselines: bool, others: Any, ids: Any, n_samples: int, seed: int) -> Rivals:
    """All clusterings to compare with."""
    found = Rivals({}) if model is None else view_clusterings(model, views)
    if baselines and model is not None:
        more = baseline_clusterings(model, views, seed)
        found = Rivals(found.labels | more.labels, (*found.notes, *more.notes))
    elif baselines:
        raise ValueError("baselines=True needs a fitted model, not labels. Give further clusterings as others=.")
    given = {
        str(name): aligned(f"others[{str(name)!r}]", labels, ids, n_samples) for name, labels in (others or {}).items()
    }
    return Rivals(found.labels | given, found.notes)


def _on_common_samples(labels: Any, clustering: Clustering, rivals: Rivals, present: Any) -> Any:
    """The labels of the samples that all other clusterings have; None if these are all, or in one cluster only."""
    if not rivals.labels:
        return None
    common = np.all([clustering_of(one).assigned for one in rivals.labels.values()], axis=0) & clustering.assigned
    if np.array_equal(common, clustering.assigned) or len(np.unique(clustering.codes[common & present])) < 2:
        return None
    found = np.array(labels, dtype=object)
    found[~common] = None
    return found


def _comparison(
    ours: dict[str, tuple[Clustering, list[ColumnTest]]],
    rivals: Rivals,
    table: OutcomeTable,
    n_permutations: int,
    seed: int,
) -> ResultTable:
    """One row per clustering, with the p-values of all columns."""
    found = dict(ours)
    with progress_steps(max(1, len(rivals.labels))) as begin_step:
        for name, labels in rivals.labels.items():
            begin_step(name)
            clustering = clustering_of(labels)
            found[name] = clustering, run_tests(OutcomeTester(clustering, n_permutations, seed), table)[1]
    rows = []
    for name, (clustering, tests) in found.items():
        sizes = np.bincount(clustering.codes[clustering.assigned & table.present], minlength=1)
        sizes = sizes[sizes > 0] if sizes.any() else sizes
        adjusted = benjamini_hochberg([test.p for test in tests])
        row: dict[str, Any] = {"method": name, "clusters": int(np.count_nonzero(sizes)), "samples": int(sizes.sum())}
        row |= {
            "smallest": int(sizes.min()),
            "significant": f"{int(np.sum(adjusted <= LEVEL))} of {len(tests)}",
        }
        rows.append(row | {f"p {test.column}": test.p for test in tests})
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    notes = [COMPARISON_NOTE, REWARDS] if len(rows) > 1 else []
    return ResultTable(columns, notes)


def _test_table(tests: list[ColumnTest], n_permutations: int) -> ResultTable:
    columns: dict[str, Any] = {name: [getattr(test, name) for test in tests] for name in ColumnTest._fields[:-1]}
    columns["p_adjusted"] = benjamini_hochberg(columns["p"])
    columns["n_samples"] = [test.n_samples for test in tests]
    note = (
        f"p: exact, or by {n_permutations} permutations, which give at least {1 / (n_permutations + 1):.2g}. "
        f"p_adjusted: false discovery rate over all tested columns."
    )
    return ResultTable(columns, [note])


def _finding_table(findings: list[ClusterFinding]) -> ResultTable:
    adjusted = benjamini_hochberg([one.p for one in findings])
    order = np.argsort([np.inf if np.isnan(one.p) else one.p for one in findings], kind="stable")
    columns: dict[str, Any] = {name: [getattr(findings[row], name) for row in order] for name in ClusterFinding._fields}
    columns["p_adjusted"] = adjusted[order]
    return ResultTable(columns, [FINDING_NOTE])


def _cluster_notes(clustering: Clustering, table: OutcomeTable) -> list[str]:
    """Notes on clusters that are too small to be described, and on samples without a cluster."""
    inside = clustering.codes[clustering.assigned & table.present]
    sizes = np.bincount(inside, minlength=len(clustering.clusters))
    notes = []
    for size, what in (
        (0, "no sample in the outcome table. Left out."),
        (1, "one sample only. A curve, median or hazard ratio of one sample says nothing about its cluster."),
    ):
        names = [str(name) for name, own in zip(clustering.clusters, sizes, strict=True) if own == size]
        if names:
            notes.append(f"Cluster{'s' * (len(names) > 1)} {', '.join(names)}: {what}")
    if len(inside) < FEW_SAMPLES:
        notes.insert(
            0,
            f"Only {len(inside)} of {clustering.assigned.sum()} samples are in the outcome table. So few samples "
            f"cannot show a difference between clusters. Check the ids.",
        )
    n_without = int(np.sum(~clustering.assigned))
    if n_without:
        notes.append(f"{n_without} of {len(clustering.codes)} samples have no cluster and are left out of all tests.")
    if table.survival is not None and len(inside):
        known = clustering.assigned & ~np.isnan(table.survival.time)
        events = np.bincount(clustering.codes[known], table.survival.event[known], minlength=len(sizes))
        without = [
            str(name) for name, own, size in zip(clustering.clusters, events, sizes, strict=True) if not own and size
        ]
        if without and events.any():
            notes.append(f"No event in cluster{'s' * (len(without) > 1)} {', '.join(without)}: hazard ratio 0.")
        if np.count_nonzero(events) == 1 and len(events) > 1:
            only = clustering.clusters[int(np.argmax(events))]
            notes.append(f"All events are in cluster {only}: its hazard ratio cannot be estimated (inf).")
    return notes


def _median(value: float) -> str:
    return "not reached" if np.isinf(value) else shown_value(value)
