"""What can be said beyond the numbers: which views matter, which to drop, what to be careful about.

Nothing here uses known classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import row_blocks, to_numpy
from latefusion.metrics import pairwise_agreement, subspace_agreement
from latefusion.report.findings import Findings, ViewFindings, shorten
from latefusion.types import Array
from latefusion.validation import loose_views

# Two views whose own clusters (adjusted Rand index) and whose partitions agree to this much say the same; below the
# second one clusters have nothing in common.
SAME = 0.98
NOTHING = 0.05
# Clusters below this many samples, or this share of an average cluster, are tiny.
TINY = 5
TINY_SHARE = 0.05
# A sample of less confidence lies between clusters; if the median does, most of them.
UNSURE = 0.2
# A column with this share of the variance of a view decides alone what the view says.
DOMINANT = 0.9
# A view in which more than this share of the samples are all zeros is pointed out.
MANY_EMPTY = 0.05
BLOCK_ENTRIES = 2**22


@dataclass(frozen=True)
class Explanation:
    """What costs a few more fits, where the model can do it.

    Attributes
    ----------
    verdicts : list of ViewVerdict or None
        What happens without each of the views.
    intervals : WeightIntervals or None
        Bootstrap intervals of the weights.
    notes : tuple of str
        Why the model has no answer, where it says so.
    """

    verdicts: Any = None
    intervals: Any = None
    notes: tuple[str, ...] = ()


def explain_views(model: Any) -> Explanation:
    """Ask a fitted model what each view is good for; a model that has no answer gives an empty one.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    Explanation
    """
    answers: list[Any] = []
    notes = []
    for question in ("leave_one_view_out", "weight_intervals"):
        answers.append(None)
        if model.n_views_ > 1 and hasattr(model, question):
            try:
                answers[-1] = getattr(model, question)()
            except ValueError as error:  # such as views that nobody can do without
                notes.append(str(error))
    verdicts, intervals = answers
    return Explanation(verdicts, intervals, tuple(notes))


def agreement_table(findings: Findings) -> tuple[list[str], NDArray[np.float64]]:
    """Adjusted Rand indices between what the single views say, and the consensus last.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    names : list of str
    table : ndarray of shape (n_names, n_names)
        NaN where two views have fewer than two samples in common.
    """
    known = [(view.name, view.own) for view in findings.views if view.own is not None]
    table = pairwise_agreement([*(own for _, own in known), findings.labels])
    return [*(name for name, _ in known), "consensus"], table


@dataclass(frozen=True)
class ViewJudgement:
    """Which views matter.

    Attributes
    ----------
    important : list of str
        Views without which the clusters would be less stable.
    droppable : list of (str, str)
        Views that could be left out, and why.
    """

    important: list[str]
    droppable: list[tuple[str, str]]


def judge_views(findings: Findings, explanation: Explanation, names: Sequence[str], table: Any) -> ViewJudgement:
    """Views that matter, and views that could go.

    Parameters
    ----------
    findings : Findings
    explanation : Explanation
    names : sequence of str
        Of the rows of the table, the consensus last.
    table : ndarray
        As `agreement_table` gives it.

    Returns
    -------
    ViewJudgement
    """
    known = [view for view in findings.views if view.own is not None]
    important: list[str] = []
    droppable: dict[str, str] = {}
    for verdict in explanation.verdicts or ():
        if verdict.gain < -2 * verdict.doubt:
            important.append(verdict.view)
        elif verdict.gain > 2 * verdict.doubt:
            droppable[verdict.view] = f"without it clusters are more stable ({verdict.gain:+.3f} ± {verdict.doubt:.3f})"
    for position, name in enumerate(names[:-1]):
        if len(names) > 2 and table[position, -1] < NOTHING and name not in important:
            droppable.setdefault(name, "its own clusters have next to nothing in common with the consensus")
        for other in range(position):
            if (
                table[position, other] >= SAME
                and names[other] not in droppable
                and _alike(known[position], known[other])
            ):
                droppable.setdefault(name, f"it says the same as {names[other]}")
    return ViewJudgement(important, list(droppable.items()))


def _alike(first: ViewFindings, second: ViewFindings) -> bool:
    """Whether two views say the same beyond their clusters: agreement alone makes them witnesses, not copies."""
    if first.rows is None or second.rows is None:
        return first.kind == second.kind
    both = first.observed & second.observed
    bases = [np.linalg.qr(view.rows[both])[0] for view in (first, second) if view.rows is not None]
    return subspace_agreement(*bases) >= SAME


def data_warnings(findings: Findings) -> list[str]:
    """Sentences about what may be wrong with the data or the result.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    list of str
        Empty when nothing was found.
    """
    found = ["There is only one view, so nothing was fused."] if len(findings.views) == 1 else []
    found += [*_about_result(findings), *_about_holes(findings)]
    used = getattr(findings.model, "observed_", None)
    for position, view in enumerate(findings.views):
        if view.kind == "features":
            heard = None if used is None else np.asarray(used[:, position])
            found += empty_rows(view.name, view.array, view.observed, heard)
            found += _about_columns(view, scaled=hasattr(findings.model, "view_kinds_"))
    return found + _about_copies(findings.views)


def _about_result(findings: Findings) -> list[str]:
    model, found = findings.model, []
    number = getattr(model, "number_selection_", None)
    if number is not None and not number.has_structure:
        found.append("Data of the same shape without clusters do as well: there is no sign of clusters here.")
    if not getattr(model, "converged_", True):
        found.append(f"The iterations were stopped after {model.n_iter_}, before they converged: raise max_iter.")
    if findings.confidence is not None and np.median(findings.confidence) < UNSURE:
        found.append("Most samples lie between clusters: the borders between clusters are arbitrary.")
    least = max(TINY, TINY_SHARE * findings.n_samples / len(findings.clusters))
    tiny = [
        f"{name} ({size} samples)" if size > 1 else f"{name} (1 sample)"
        for name, size in zip(findings.clusters, findings.sizes.tolist(), strict=True)
        if size < least
    ]
    if tiny:
        found.append(f"Tiny clusters may be outliers: {shorten(tiny, 5)}.")
    return found


def _about_holes(findings: Findings) -> list[str]:
    observed = findings.observed
    if observed.all():
        return []
    lacking = [
        f"{view.name} ({np.mean(~view.observed):.0%} of the samples)"
        for view in findings.views
        if not view.observed.all()
    ]
    complete = int(np.count_nonzero(observed.all(axis=1)))
    told = f"Not every sample is in every view: {complete} are. Views with holes: {shorten(lacking, 5)}."
    return [told, *loose_views([view.name for view in findings.views], observed, len(findings.clusters))]


def empty_rows(
    name: str, array: Array, observed: NDArray[np.bool_], heard: NDArray[np.bool_] | None = None
) -> list[str]:
    """Whether many samples are all zeros in a view, as documents without any known word are.

    Parameters
    ----------
    name : str
    array : array or sparse matrix of shape (n_samples, n_features)
    observed : ndarray of bool of shape (n_samples,)
        Samples that are in the view.
    heard : ndarray of bool of shape (n_samples,), default=None
        Samples whose rows were used; all that are in the view by default.

    Returns
    -------
    list of str
        A sentence, or nothing.
    """
    if issparse(array):
        filled = np.asarray((array != 0).sum(axis=1)).ravel() > 0
    else:
        blocks = row_blocks(array.shape[0], max(1, BLOCK_ENTRIES // max(1, array.shape[1])))
        filled = np.concatenate([np.any(to_numpy(array[rows]) != 0, axis=1) for rows in blocks])
    n_empty = int(np.count_nonzero(observed & ~filled))
    if n_empty <= max(1, MANY_EMPTY * np.count_nonzero(observed)):
        return []
    told = f"View {name}: {n_empty} of its {int(observed.sum())} samples are zero in all columns"
    if heard is not None and not np.any(heard & ~filled):
        return [f"{told}. This view is compared by direction, which they do not have: they were taken as missing."]
    return [
        f"{told}, and so look alike. If that means that nothing is known of them, give empty cells (NaN) instead: "
        f"other views then say where they belong."
    ]


def _about_columns(view: ViewFindings, *, scaled: bool) -> list[str]:
    found = []
    variances = column_variances(view)
    constant = [view.columns[one] for one in np.flatnonzero(variances == 0)]
    if constant:
        what = "1 column is" if len(constant) == 1 else f"{len(constant)} columns are"
        found.append(f"View {view.name}: {what} constant ({shorten(constant, 3)}) and without meaning here.")
    largest = int(np.argmax(variances))
    if not scaled and len(variances) > 2 and variances[largest] > DOMINANT * variances.sum():
        share = variances[largest] / variances.sum()
        found.append(
            f"View {view.name}: the column {view.columns[largest]} has {share:.0%} of the variance and decides alone "
            f"what the view says; should columns be standardised?"
        )
    return found


def column_variances(view: ViewFindings) -> NDArray[np.float64]:
    """Variance of every feature over the samples that are in the view; exactly 0 for a constant one."""
    array, rows = view.array, np.flatnonzero(view.observed)
    if issparse(array):
        own = array[rows]
        means = np.asarray(own.mean(axis=0)).ravel()
        constant = (own.max(axis=0) - own.min(axis=0)).toarray().ravel() == 0
        return np.where(constant, 0.0, np.maximum(np.asarray(own.power(2).mean(axis=0)).ravel() - means**2, 1e-300))
    first = to_numpy(array[rows[:1]]).astype(np.float64)
    sums, squares, n_samples = np.zeros(first.shape[1]), np.zeros(first.shape[1]), len(rows)
    for block in row_blocks(n_samples, max(1, BLOCK_ENTRIES // first.shape[1])):
        part = to_numpy(array[rows[block]]).astype(np.float64) - first  # exactly zero where nothing changes
        sums += part.sum(axis=0)
        squares += (part**2).sum(axis=0)
    variances = np.maximum(squares / n_samples - (sums / n_samples) ** 2, np.finfo(float).tiny)
    return np.where(squares == 0, 0.0, variances)


def _about_copies(views: Sequence[ViewFindings]) -> list[str]:
    found = []
    for position, view in enumerate(views):
        for other in views[:position]:
            if view.array is not None and other.array is not None and _equal(view.array, other.array):
                found.append(f"Views {other.name} and {view.name} are the same data.")
    return found


def _equal(first: Any, second: Any) -> bool:
    if first.shape != second.shape or issparse(first) != issparse(second):
        return False
    if issparse(first):
        return (first != second).nnz == 0
    # Two rows tell nearly all views apart; only then all are compared.
    return all(
        bool(np.array_equal(to_numpy(first[rows]), to_numpy(second[rows])))
        for rows in (slice(0, 2), slice(0, first.shape[0]))
    )
