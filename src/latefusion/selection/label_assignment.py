"""Labels of consensus rows, and the choice among several rules for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import on_host, take_rows
from latefusion.assignment import fit_linear_discriminant, fit_mixture
from latefusion.partitions.sources import known_samples
from latefusion.selection.options import AUTOMATIC, Selected
from latefusion.selection.refinement import move_halves, refine
from latefusion.selection.table import LEAST_BREADTH, choose


class Assigned(NamedTuple):
    """Labels of samples.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    rule : AssignmentRule
        Gives labels to new rows.
    assign_labels : str
        The chosen assignment.
    """

    labels: NDArray[np.intp]
    rule: Any
    assign_labels: str


def assign_selected(selected: Selected, consensus: NDArray[Any], mask: NDArray[np.bool_] | None) -> Assigned:
    """Labels of the consensus of all samples, and the rule that gives labels to new rows.

    ``assign_labels="auto"`` takes the labels of the highest score of several assignments, refines them, moves halves of
    clusters, and fits a linear discriminant to the result, whose labels are returned. If the search used only some of
    the samples, so do these steps, and the discriminant labels all.

    Parameters
    ----------
    selected : Selected
    consensus : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Which samples have which views; None if no view is missing.

    Returns
    -------
    Assigned
    """
    return with_moved_halves(selected, consensus, assign_refined(selected, consensus, mask))


def assign_refined(
    selected: Selected,
    consensus: NDArray[Any],
    mask: NDArray[np.bool_] | None,
    by_kmeans: NDArray[np.integer] | None = None,
) -> Assigned:
    """The same without the moves of halves, for candidates that are compared.

    Parameters
    ----------
    selected : Selected
    consensus : array of shape (n_samples, n_clusters)
        May be on a device, where it stays.
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Which samples have which views; None if no view is missing.
    by_kmeans : ndarray of shape (n_known,), default=None
        Labels of the samples of the criterion by k-means with all starts, if they are known.

    Returns
    -------
    Assigned
    """
    options, candidate, criterion = selected.options, selected.candidate, selected.criterion
    n_clusters = candidate.n_clusters
    if options.assign_labels != "auto":
        labels, rule = assign_known(options.assign, consensus, mask, n_clusters)
        return Assigned(labels, rule, options.assign_labels)
    rows = consensus if selected.samples is None else on_host(take_rows(consensus, selected.samples))
    known = criterion.samples
    found: dict[str, NDArray[np.intp]] = {}
    for name in AUTOMATIC:
        labels = np.zeros(len(rows), dtype=np.intp)
        if name == "mixture":
            labels[known] = fit_mixture(rows[known], found["kmeans"][known], n_clusters).predict(rows[known])
        elif name == "kmeans" and by_kmeans is not None:
            labels[known] = by_kmeans
        else:
            labels[known] = options.assign(rows[known], n_clusters, assign_labels=name)[0]
        found[name] = labels
    scored = [
        candidate._replace(assign_labels=name, score=criterion.score(one, n_clusters).per_entropy(one, n_clusters))
        for name, one in found.items()
    ]
    best = choose(scored, len(known))[0].assign_labels
    labels = refine(found[best], n_clusters, criterion, LEAST_BREADTH * candidate.score.breadth)
    rule = fit_linear_discriminant(rows[known], labels[known], n_clusters)
    return Assigned(rule.predict(consensus), rule, best)


def with_moved_halves(selected: Selected, consensus: NDArray[Any], assigned: Assigned) -> Assigned:
    """Labels after moves of halves of clusters, and their rule; only ``assign_labels="auto"`` moves them.

    Parameters
    ----------
    selected : Selected
    consensus : array of shape (n_samples, n_clusters)
        May be on a device, where it stays.
    assigned : Assigned
        Of the same rows.

    Returns
    -------
    Assigned
        The given one if no move is a gain for the labels of the rule.
    """
    if selected.options.assign_labels != "auto":
        return assigned
    criterion, candidate = selected.criterion, selected.candidate
    rows, labels = consensus, assigned.labels
    if selected.samples is not None:
        rows = on_host(take_rows(consensus, selected.samples))
        labels = assigned.rule.predict(rows)
    moved = move_halves(labels, rows, candidate.n_clusters, criterion, LEAST_BREADTH * candidate.score.breadth)
    if np.array_equal(moved, labels):
        return assigned
    known = criterion.samples
    rule = fit_linear_discriminant(rows[known], moved[known], candidate.n_clusters)
    before, after = (criterion.score(one, candidate.n_clusters).value for one in (labels, rule.predict(rows)))
    if after <= before:  # the discriminant does not follow the moves
        return assigned
    return Assigned(rule.predict(consensus), rule, assigned.assign_labels)


def assign_known(assign: Any, rows: NDArray[Any], mask: NDArray[np.bool_] | None, *args: Any, **options: Any) -> Any:
    """Labels and their rule from the samples that have any view; the rule gives labels to the others.

    Rows of samples without any view coincide. They would be a cluster of their own, or attract a center.

    Parameters
    ----------
    assign : callable
        From rows to labels and a rule for other rows.
    rows : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if no view is missing.
    *args, **options
        Of `assign`.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : object
    """
    known = known_samples(mask)
    if known is None:
        return assign(rows, *args, **options)
    own, rule = assign(rows[known], *args, **options)
    labels = np.asarray(rule.predict(rows))
    labels[known] = own
    return labels, rule
