"""The tables of an evaluation: our values and the printed ones, for both protocols."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latefusion.experiments.printed import (
    NOT_IN_PAPER,
    PrintedValue,
    explanations,
    paper_dataset,
    printed_methods,
    printed_tables,
    printed_value,
)
from latefusion.experiments.protocol import LAM, METRICS, OURS, Protocol
from latefusion.experiments.summary import TEST, Summary, best_and_equals
from latefusion.tables import Entry, Table

SHORT = {"accuracy": "ACC", "nmi": "NMI", "purity": "purity"}
SCORE_TABLES = {
    "kernel": "multiple kernel methods",
    "graph": "graph methods",
    "large": "large-scale data sets",
    "swmc": "comparison with SWMC",
}
# For every table of scores, the table of its printed times and the method that the speed-up is relative to.
TIME_TABLES = {"kernel": ("", "MKKM"), "graph": ("graph time", "MVGL"), "large": ("large time", "MKKM-MR")}
# The reference method of each protocol.
REFERENCES: dict[Protocol, str] = {"oracle": LAM, "label-free": OURS}
NOTHING = "–"
# Differences of accuracy above this, in points, are explained in the report.
TOLERANCE = 4.0
READING = (
    "oracle / paper: the best of grid and restarts by the classes, in per cent, and the printed value. label-free: "
    "mean ± standard deviation over seeds, no classes used. Marked: the best, and those not significantly worse "
    f"({TEST}; seeds vary the starts, not the samples)."
)


def comparison_kind(name: str) -> str:
    """Relation of a data set to the one in the paper."""
    known = paper_dataset(name)
    return NOT_IN_PAPER if known is None else known[1].likeness


def marks(summaries: Sequence[Summary], metric: str) -> tuple[dict[str, str], dict[str, str]]:
    """Marks of all methods on one data set, under the oracle and without labels."""
    oracle = {one.method: one.oracle[metric] for one in summaries if one.oracle}
    free = {one.method: one.label_free[metric] for one in summaries if one.label_free}
    return (
        best_and_equals(
            {name: one.sample for name, one in oracle.items()}, {m: one.value for m, one in oracle.items()}
        ),
        best_and_equals(free, {name: float(sample.mean()) for name, sample in free.items()}),
    )


def dataset_table(summaries: Sequence[Summary]) -> Table:
    """All methods and scores on one data set.

    Parameters
    ----------
    summaries : sequence of Summary
        Of one data set.

    Returns
    -------
    Table
    """
    source = summaries[0].source
    tables = printed_tables(source.title)
    header = ["method"]
    for metric in METRICS:
        header += [f"{SHORT[metric]} oracle / paper", f"{SHORT[metric]} label-free"]
    found = {metric: marks(summaries, metric) for metric in METRICS}
    rows = []
    for one in summaries:
        row = [Entry(one.method)]
        for metric in METRICS:
            oracle, free = found[metric]
            row += [
                Entry(_oracle_text(one, metric, tables), oracle.get(one.method, "")),
                Entry(_label_free_text(one, metric), free.get(one.method, "")),
            ]
        rows.append([*row, Entry(NOTHING if one.seconds is None else f"{one.seconds:.2f}")])
    title = (
        f"{source.title}: {source.n_samples} samples, {source.n_views} views, {source.n_clusters} classes "
        f"({comparison_kind(source.name)})"
    )
    return Table(title, [*header, "seconds"], rows, [READING, *_failures(summaries)])


def overview_table(summaries: Sequence[Summary], protocol: Protocol) -> Table:
    """Every method over all data sets, compared with one of ours on the same data sets.

    Parameters
    ----------
    summaries : sequence of Summary
    protocol : {"oracle", "label-free"}

    Returns
    -------
    Table
        Empty if the reference method has no results.
    """
    reference = REFERENCES[protocol]
    found: dict[str, dict[str, Summary]] = {}
    for one in summaries:
        if (one.oracle and not one.n_missing) if protocol == "oracle" else one.label_free:
            found.setdefault(one.method, {})[one.source.name] = one
    rows = []
    for method, ours in found.items():
        shared = [name for name in ours if name in found.get(reference, {})]
        if not shared:
            continue
        row = [method, str(len(shared))]
        for metric in ("accuracy", "nmi"):
            pairs = np.array(
                [[_height(one[name], metric, protocol) for name in shared] for one in (ours, found[reference])]
            )
            better, worse = (np.sum(sign * (pairs[0] - pairs[1]) > 0.005) for sign in (1, -1))
            row += [f"{mean:.2f}" for mean in pairs.mean(axis=1)] + [f"{better} / {worse}"]
        rows.append([Entry(word) for word in row])
    rows.sort(key=lambda row: float(row[3].text) - float(row[2].text))
    header = ["method", "data sets"]
    for metric in ("accuracy", "nmi"):
        header += [SHORT[metric], f"{SHORT[metric]} of {reference}", "better / worse"]
    note = (
        f"Means in per cent over the data sets on which both the method and {reference} have a result, and on how many "
        "of them its value is higher or lower; under the oracle, where all of its grid was run. Sorted by the "
        "difference of ACC."
    )
    return Table(f"All data sets, {protocol}", header, rows, [note])


def unfinished_table(summaries: Sequence[Summary]) -> Table:
    """Cells that were not run or failed, by data set."""
    rows = []
    for group in by_dataset(summaries):
        missing = [f"{one.method} ({one.n_missing} of {one.n_cells})" for one in group if one.n_missing]
        failed = [f"{one.method} ({_failed(one)})" for one in group if one.reasons]
        if missing or failed:
            n_cells, n_missing = sum(one.n_cells for one in group), sum(one.n_missing for one in group)
            words = [
                group[0].source.title,
                f"{n_cells - n_missing} of {n_cells}",
                "everything" if n_missing == n_cells else "; ".join(missing),
                "; ".join(failed),
            ]
            rows.append([Entry(word) for word in words])
    header = ["data set", "cells that were run", "not run", "failed"]
    note = "A cell is one method on one data set with one part of its grid and some seeds."
    return Table("By data set", header, rows, [note])


def score_tables(summaries: Sequence[Summary]) -> dict[str, Table]:
    """The paper's tables of scores, as far as their data sets and methods were run; two lines per data set."""
    found = {}
    for name, words in SCORE_TABLES.items():
        part = _part(summaries, name)
        for metric in METRICS if part else ():
            rows = [row for one in by_dataset(part) for row in _score_rows(one, name, metric)]
            header = ["data set", "comparison", "protocol", *_methods(part, name)]
            title = f"{SHORT[metric]} in per cent, {words}"
            found[f"{name}-{metric}"] = Table(title, header, rows, [READING])
    return found


def time_tables(summaries: Sequence[Summary]) -> dict[str, Table]:
    """Seconds of one clustering, and the speed-up relative to a reference method."""
    found = {}
    for name, (printed, reference) in TIME_TABLES.items():
        part = _part(summaries, name)
        rows = [_time_row(one, _methods(part, name), printed, reference) for one in by_dataset(part)]
        if rows:
            header = ["data set", "comparison", *_methods(part, name)]
            note = (
                f"ours / paper in seconds, and how many times faster than {reference} (ours / paper). One fit with "
                "default parameters and its labels; the paper used another machine, so only ratios are comparable."
            )
            found[f"{name}-time"] = Table(f"Running time, {SCORE_TABLES[name]}", header, rows, [note])
    return found


def long_table(summaries: Sequence[Summary]) -> Table:
    """One line per data set, method and score: the content of all other tables."""
    header = ["data set", "comparison", "method", "score", "oracle", "oracle, lowest cost", "oracle parameters"]
    header += ["paper", "label-free mean", "label-free sd", "seconds", "reason"]
    rows = []
    for one in summaries:
        for metric in METRICS:
            best, sample = one.oracle.get(metric), one.label_free.get(metric)
            words = [
                one.source.title,
                comparison_kind(one.source.name),
                one.method,
                metric,
                "" if best is None else f"{100 * best.value:.4f}",
                "" if best is None or best.lowest_cost is None else f"{100 * best.lowest_cost:.4f}",
                "" if best is None else ", ".join(f"{key}={value}" for key, value in best.parameters.items()),
                _printed_text(one, metric, printed_tables(one.source.title)),
                "" if sample is None else f"{100 * sample.mean():.4f}",
                "" if sample is None else f"{100 * sample.std(ddof=min(1, len(sample) - 1)):.4f}",
                "" if one.seconds is None else f"{one.seconds:.4f}",
                _reason(one),
            ]
            rows.append([Entry(word) for word in words])
    return Table("All results", header, rows, [])


def differences(summaries: Sequence[Summary]) -> Table:
    """Every accuracy under the oracle that is more than four points away from the printed one, and why."""
    rows = []
    for one in summaries:
        printed = _printed(one, "accuracy", printed_tables(one.source.title))
        if printed is None or printed.value is None or not one.oracle:
            continue
        best = one.oracle["accuracy"]
        gap = 100 * best.value - printed.value
        if abs(gap) > TOLERANCE:
            settled = NOTHING if best.lowest_cost is None else f"{100 * best.lowest_cost:.2f}"
            words = [one.source.title, one.method, f"{100 * best.value:.2f} / {printed.value:.2f}"]
            words += [f"{gap:+.2f}", settled, f"{100 * best.mean:.2f}", _why(one, printed.value)]
            rows.append([Entry(word) for word in words])
    header = ["data set", "method", "ACC oracle / paper", "difference", "lowest cost", "mean start", "why"]
    note = (
        "Parameters are chosen with the classes in all columns. lowest cost: of the restarts the one with the lowest "
        "k-means cost, as in the authors' code, instead of the one with the best score, as in the paper. mean "
        "start: the mean over the restarts."
    )
    return Table(f"Accuracies more than {TOLERANCE:g} points from the printed ones", header, rows, [note])


def _why(one: Summary, printed: float) -> str:
    """The known reason of a difference, or what the values suggest, or that it is not explained."""
    known = explanations().get((one.source.title, one.method))
    kind = comparison_kind(one.source.name)
    if known is not None:
        return known
    if kind != "same kernels":
        return f"other data: {kind}"
    best = one.oracle["accuracy"]
    for words, value in (("the start with the lowest cost", best.lowest_cost), ("one start on average", best.mean)):
        if value is not None and abs(100 * value - printed) <= TOLERANCE:
            return f"{words} is within {TOLERANCE:g} points of the printed value; the best of all starts is higher"
    if best.mean < printed / 100 < best.value:
        return "not explained; the printed value is between one start on average and the best of all"
    return "not explained"


def _height(one: Summary, metric: str, protocol: Protocol) -> float:
    value = one.oracle[metric].value if protocol == "oracle" else one.label_free[metric].mean()
    return 100 * float(value)


def _part(summaries: Sequence[Summary], table: str) -> list[Summary]:
    methods = printed_methods(table)
    return [one for one in summaries if table in printed_tables(one.source.title) and one.method in methods]


def by_dataset(summaries: Sequence[Summary]) -> list[list[Summary]]:
    """Summaries of every data set, in their order."""
    groups: dict[str, list[Summary]] = {}
    for one in summaries:
        groups.setdefault(one.source.name, []).append(one)
    return list(groups.values())


def _methods(summaries: Sequence[Summary], table: str) -> list[str]:
    run = {one.method for one in summaries}
    return [method for method in printed_methods(table) if method in run]


def _score_rows(summaries: Sequence[Summary], table: str, metric: str) -> list[list[Entry]]:
    source = summaries[0].source
    by_method = {one.method: one for one in summaries}
    oracle, free = marks(summaries, metric)
    first = [Entry(source.title), Entry(comparison_kind(source.name)), Entry("oracle / paper")]
    second = [Entry(source.title), Entry(comparison_kind(source.name)), Entry("label-free")]
    for method in _methods(summaries, table):
        first.append(Entry(_oracle_text(by_method[method], metric, [table]), oracle.get(method, "")))
        second.append(Entry(_label_free_text(by_method[method], metric), free.get(method, "")))
    return [first, second]


def _time_row(summaries: Sequence[Summary], methods: Sequence[str], printed: str, reference: str) -> list[Entry]:
    source = summaries[0].source
    seconds = {one.method: one.seconds for one in summaries if one.seconds is not None}
    row = [Entry(source.title), Entry(comparison_kind(source.name))]
    for method in methods:
        ours = f"{seconds[method]:.3g}" if method in seconds else NOTHING
        faster = f"{seconds[reference] / seconds[method]:.2g}×" if {method, reference} <= seconds.keys() else NOTHING
        paper = [printed_value(printed, source.title, method, metric) for metric in ("seconds", "speedup")]
        words = [NOTHING if one is None else one.printed.replace("x", "×") for one in paper]
        row.append(Entry(f"{ours} / {words[0]} ({faster} / {words[1]})" if printed else f"{ours} ({faster})"))
    return row


def _oracle_text(one: Summary, metric: str, tables: Sequence[str]) -> str:
    ours = f"{100 * one.oracle[metric].value:.2f}" if one.oracle else NOTHING
    paper = _printed_text(one, metric, tables)
    return f"{ours} / {paper}" if tables else ours


def _printed(one: Summary, metric: str, tables: Sequence[str]) -> PrintedValue | None:
    found = (printed_value(table, one.source.title, one.method, metric) for table in tables)
    return next((value for value in found if value is not None), None)


def _printed_text(one: Summary, metric: str, tables: Sequence[str]) -> str:
    printed = _printed(one, metric, tables)
    return NOTHING if printed is None or printed.value is None else f"{printed.value:.2f}"


def _label_free_text(one: Summary, metric: str) -> str:
    if not one.label_free:
        return NOTHING
    sample = 100 * np.asarray(one.label_free[metric])
    return f"{sample.mean():.2f} ± {sample.std(ddof=min(1, len(sample) - 1)):.2f}"


def _failures(summaries: Sequence[Summary]) -> list[str]:
    return [f"{one.method}: {reason}" for one in summaries if (reason := _reason(one))]


def _reason(one: Summary) -> str:
    missing = [f"{one.n_missing} cell{'s' * (one.n_missing > 1)} not run"] * bool(one.n_missing)
    return "; ".join([_failed(one)] * bool(one.reasons) + missing)


def _failed(one: Summary) -> str:
    return "; ".join(f"{reason} ({count} cell{'s' * (count > 1)})" for reason, count in one.reasons.items())
