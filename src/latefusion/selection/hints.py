"""Hints as one more partition of the samples.

The hints are propagated over the similarities of all views, and become a partition that is aligned with the consensus.
A partition from the hinted samples alone would have no rows for the others.

1. Every group of hints gets a cluster: that of most of its samples, where groups that are apart get different ones.
2. Let Z be the scaled eigenvectors of all views beside the directions of the consensus rows, L the indicators of the
   clusters without hints, and Y those of the hints. The propagated hints are P = tL + ZA, with A the ridge regression
   of Y - tL on the hinted rows of Z. For every trust t and every shrinkage, the cluster of each hint is predicted from
   the other hints, in closed form. P is the mean over all settings, weighted by the exponential of minus their squared
   errors.
3. The hints are followed only if they predict each other better than the clusters without hints do. The number of
   predicted hints, and the agreement with the classes or pairs, must increase by more than 2.25 standard errors. Wrong
   hints do not predict each other, so they change nothing, or little.
4. The largest entries of P are the new clusters. Their regression on the eigenvectors is the partition of the hints. It
   is a linear function of the views, as all base partitions are, so new samples have a row of it. It is aligned with
   the consensus. A linear discriminant of the new clusters on the resulting rows is the rule for labels.

A hint has no further effect on its own sample, so it can be overruled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import array_api_compat.numpy as xp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latefusion.arrays import polar, unit_rows
from latefusion.assignment import LinearDiscriminant, fit_linear_discriminant
from latefusion.metrics.scores import contingency
from latefusion.solvers import compress_partitions, solve_alignment
from latefusion.validation.hints import Hints

# Trust in the clusters without hints, and shrinkage of the regression, relative to the mean squared norm of a row.
TRUSTS = (0.0, 0.3, 0.6, 1.0)
SHRINKAGES = (0.01, 0.03, 0.1, 0.3, 1.0)
# Hints are followed if the gain exceeds so many standard errors.
GAIN_ERRORS = 2.25
# How much the similarity of a sample to a cluster counts beside its label when groups get clusters: it decides ties.
TIE = 1e-3
# Shrinkage of the regression of the new clusters on the eigenvectors, relative to their mean variance.
PARTITION_SHRINKAGE = 1e-2
# Weight of the partition of the hints, relative to the consensus of the views.
HINT_WEIGHT = 4.0


@dataclass(frozen=True, repr=False)
class HintResult:
    """Which hints the clusters agree with, and whether they were followed.

    Attributes
    ----------
    hints : Hints
        The hints themselves.
    clusters : ndarray of int of shape (n_hinted,)
        The cluster that the hints of each of the samples stand for.
    kept : ndarray of bool of shape (n_hinted,)
        Whether the sample is in this cluster; otherwise its hint was overruled.
    class_clusters : ndarray of int of shape (n_classes,)
        The cluster of every class.
    pairs_kept : int
        Number of pairs (`must_link` and `cannot_link`) that the clusters satisfy.
    followed : bool
        Whether the hints changed the clustering. If not, it is the same as without hints.
    gain, standard_error : float
        Share of the hints that the other hints predict, minus the share that the clusters without hints do, and the
        standard error of the difference.
    agreement_gain, agreement_error : float
        The same difference for the adjusted Rand index with the classes, or for the share of satisfied pairs if there
        are no classes.
    """

    hints: Hints
    clusters: NDArray[np.intp]
    kept: NDArray[np.bool_]
    class_clusters: NDArray[np.intp]
    pairs_kept: int
    followed: bool
    gain: float
    standard_error: float
    agreement_gain: float
    agreement_error: float

    @property
    def samples(self) -> NDArray[np.intp]:
        """Row numbers of the samples with hints, in order."""
        return self.hints.rows

    @property
    def classes(self) -> NDArray[Any]:
        """The classes of the hints, sorted."""
        return self.hints.classes

    @property
    def n_pairs(self) -> int:
        """Number of pairs (`must_link` and `cannot_link`)."""
        return self.hints.n_pairs

    @property
    def overruled(self) -> NDArray[np.intp]:
        """Row numbers of the samples whose hints were overruled."""
        return self.samples[~self.kept]

    def __repr__(self) -> str:
        pairs = f"; {self.pairs_kept} of {self.n_pairs} pairs satisfied" * bool(self.n_pairs)
        return f"{len(self.samples)} samples with hints, {len(self.overruled)} overruled{pairs}. {self.reason}"

    @property
    def reason(self) -> str:
        """Why the hints were followed or not, in a sentence."""
        pairs = f"{self.agreement_gain:+.0%} ± {self.agreement_error:.0%} of the pairs"
        classes = f"adjusted Rand index {self.agreement_gain:+.2f} ± {self.agreement_error:.2f}"
        agreement = classes if len(self.classes) else pairs
        gain = f"{self.gain:+.0%} ± {self.standard_error:.0%} of the hints; {agreement}"
        if self.followed:
            return f"The clusters follow the hints, which predict each other better than the clusters do ({gain})."
        if self.standard_error == 0:
            return "The clusters are those without hints, because the hints predict the same clusters."
        return (
            f"The clusters are those without hints, because the hints do not predict each other significantly better: "
            f"both differences must exceed {GAIN_ERRORS:g} standard errors ({gain})."
        )


class Guided(NamedTuple):
    """A clustering that follows hints.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns, n_clusters)
        The consensus is the columns times this.
    labels : ndarray of shape (n_samples,)
    rule : LinearDiscriminant
        Turns consensus rows into labels.
    """

    coefficients: NDArray[np.float64]
    labels: NDArray[np.intp]
    rule: LinearDiscriminant


class Propagated(NamedTuple):
    """Scores of every cluster: of all samples, and of the hinted ones without their own hint."""

    scores: NDArray[np.float64]
    left_out: NDArray[np.float64]


def follow_hints(
    hints: Hints,
    columns: NDArray[Any],
    scales: NDArray[np.float64],
    coefficients: NDArray[Any],
    labels: NDArray[np.intp],
    known: NDArray[np.bool_] | None = None,
) -> tuple[Guided | None, HintResult]:
    """Change a clustering by hints, if they predict each other better than the clustering does.

    Parameters
    ----------
    hints : Hints
    columns : ndarray of shape (n_samples, n_columns)
        Partitions of all views side by side.
    scales : ndarray of shape (n_columns,)
        How much the columns count.
    coefficients : ndarray of shape (n_columns, n_clusters)
        The consensus without hints is the columns times this.
    labels : ndarray of shape (n_samples,)
        Clusters without hints.
    known : ndarray of bool of shape (n_samples,), default=None
        Samples that have any view; None for all.

    Returns
    -------
    guided : Guided or None
        None if the hints are not followed.
    result : HintResult
    """
    coefficients = np.asarray(coefficients, dtype=np.float64)
    columns = np.asarray(columns, dtype=np.float64)
    consensus, n_clusters = columns @ coefficients, coefficients.shape[1]
    directions = unit_rows(consensus, xp=np)
    clusters = _group_clusters(hints, labels, directions, n_clusters)
    rows = hints.rows
    wanted = clusters[hints.groups[rows]]
    indicators = np.eye(n_clusters)[labels]
    scaled = columns * scales
    features = np.hstack([_of_mean_norm(scaled, 0.5), _of_mean_norm(directions, 0.5)])
    # Clusters without hints keep their samples only if the clusters without hints count.
    trusts = TRUSTS if len(np.unique(wanted)) == n_clusters else TRUSTS[-1:]
    found = _propagate(features, rows, np.eye(n_clusters)[wanted], indicators, trusts)
    predicted = found.left_out.argmax(axis=1)
    gains = _compare(hints, labels, predicted, wanted)
    guided = None
    if all(gain > GAIN_ERRORS * error and gain > 0 for gain, error in gains):
        guided = _guided(columns, scaled, scales, coefficients, consensus, found.scores.argmax(axis=1), known)
        if len(np.unique(guided.labels)) < len(np.unique(labels)):
            guided = None
    final = labels if guided is None else guided.labels
    return guided, HintResult(
        hints=hints,
        clusters=wanted,
        kept=np.asarray(final[rows] == wanted),
        class_clusters=clusters[: len(hints.classes)],
        pairs_kept=int(_satisfied(hints, final).sum()),
        followed=guided is not None,
        gain=gains[0][0],
        standard_error=gains[0][1],
        agreement_gain=gains[1][0],
        agreement_error=gains[1][1],
    )


def _of_mean_norm(rows: NDArray[np.float64], norm: float) -> NDArray[np.float64]:
    """Rows divided by one number, so that the mean of their squared norms is the given one."""
    mean = float(np.mean(np.sum(rows**2, axis=1)))
    return rows * np.sqrt(norm / mean) if mean > 0 else rows


def _group_clusters(
    hints: Hints, labels: NDArray[np.intp], directions: NDArray[np.float64], n_clusters: int
) -> NDArray[np.intp]:
    """The cluster of every group; classes get different ones."""
    rows, n_groups = hints.rows, int(hints.groups.max()) + 1
    votes = np.zeros((n_groups, n_clusters))
    centers = np.zeros((n_clusters, directions.shape[1]))
    np.add.at(centers, labels, directions)
    closeness = directions[rows] @ unit_rows(centers, xp=np).T
    np.add.at(votes, hints.groups[rows], np.eye(n_clusters)[labels[rows]] + TIE * closeness)
    clusters = np.full(n_groups, -1, dtype=np.intp)
    n_classes = len(hints.classes)
    clusters[:n_classes] = linear_sum_assignment(votes[:n_classes], maximize=True)[1]
    neighbors: list[list[int]] = [[] for _ in range(n_groups)]
    for one, other in hints.apart.tolist():
        neighbors[one].append(other)
        neighbors[other].append(one)
    # The clearest groups first; the others avoid the clusters of groups from which they are apart.
    order = n_classes + np.argsort(-votes[n_classes:].max(axis=1, initial=0.0), kind="stable")
    for group in order.tolist():
        taken = {int(clusters[one]) for one in neighbors[group]} - {-1}
        free = [one for one in range(n_clusters) if one not in taken] or list(range(n_clusters))
        clusters[group] = free[int(np.argmax(votes[group, free]))]
    return clusters


def _propagate(
    features: NDArray[np.float64],
    rows: NDArray[np.intp],
    targets: NDArray[np.float64],
    indicators: NDArray[np.float64],
    trusts: tuple[float, ...],
) -> Propagated:
    """The mean of the ridge regressions of all settings, weighted by their errors without the own hint."""
    left, values, right = np.linalg.svd(features[rows], full_matrices=False)
    squares = values**2
    found: list[tuple[Any, ...]] = []
    for trust in trusts:
        residual = targets - trust * indicators[rows]
        offset = residual.mean(axis=0) if trust == 0 else np.zeros(targets.shape[1])
        projected = left.T @ (residual - offset)
        for shrinkage in SHRINKAGES:
            share = squares / (squares + shrinkage)
            errors = (residual - offset - left @ (share[:, None] * projected)) / (1.0 - left**2 @ share)[:, None]
            weights = right.T @ ((values / (squares + shrinkage))[:, None] * projected)
            found.append((-float(np.sum(errors**2)), trust, offset, weights, errors))
    fits = np.array([one[0] for one in found])
    likelihood = np.exp(fits - fits.max())
    likelihood /= likelihood.sum()
    mean_trust, mean_offset, mean_weights, mean_errors = (
        np.tensordot(likelihood, np.array(parts), axes=1) for parts in list(zip(*found, strict=True))[1:]
    )
    scores = mean_trust * indicators + mean_offset + features @ mean_weights
    return Propagated(scores, targets - mean_errors)


def _compare(
    hints: Hints, labels: NDArray[np.intp], predicted: NDArray[np.intp], wanted: NDArray[np.intp]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Gains in predicted hints and in the agreement with classes or pairs, each with its standard error."""
    rows = hints.rows
    differences = (predicted == wanted).astype(np.float64) - (labels[rows] == wanted)
    # As in the test of McNemar: without a difference, gains and losses are equally likely.
    gain, error = float(differences.mean()), float(np.sqrt(np.sum(differences**2)) / len(rows))
    changed = labels.copy()
    changed[rows] = predicted
    classified = np.flatnonzero(hints.codes >= 0)
    if len(classified):
        agreement = _rand_gain(hints.codes[classified], labels[classified], changed[classified])
    else:
        satisfied = _satisfied(hints, changed).astype(np.float64) - _satisfied(hints, labels)
        agreement = float(satisfied.mean()), float(np.sqrt(np.sum(satisfied**2)) / len(satisfied))
    return (gain, error), agreement


def _satisfied(hints: Hints, labels: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which pairs a clustering satisfies, must-links first."""
    must, cannot = (labels[pairs[:, 0]] == labels[pairs[:, 1]] for pairs in (hints.must_link, hints.cannot_link))
    return np.concatenate([must, ~cannot])


def _rand_gain(codes: NDArray[np.intp], before: NDArray[np.intp], after: NDArray[np.intp]) -> tuple[float, float]:
    """Difference of the adjusted Rand indices with the classes, and its standard error by the jackknife."""
    (first, without), (second, others) = (_rand_without_each(codes, one) for one in (before, after))
    differences = others - without
    n_samples = len(codes)
    variance = (n_samples - 1) / n_samples * float(np.sum((differences - differences.mean()) ** 2))
    return second - first, float(np.sqrt(variance))


def _rand_without_each(codes: NDArray[np.intp], labels: NDArray[np.intp]) -> tuple[float, NDArray[np.float64]]:
    """Adjusted Rand index of all samples, and without each of them, from one table of counts."""
    codes, labels = (np.unique(one, return_inverse=True)[1] for one in (codes, labels))
    table = contingency(codes, labels)
    in_class, in_cluster = table.sum(axis=1), table.sum(axis=0)
    sums = np.array([np.sum(one**2) for one in (table, in_class, in_cluster)], dtype=np.float64)
    own = np.array([table[codes, labels], in_class[codes], in_cluster[labels]], dtype=np.float64)
    n_samples = len(codes)
    return float(_rand(sums[:, None], n_samples)[0]), _rand(sums[:, None] - 2 * own + 1, n_samples - 1)


def _rand(squares: NDArray[np.float64], n_samples: int) -> NDArray[np.float64]:
    """Adjusted Rand indices from the sums of squared counts of cells, rows and columns."""
    cells, rows, columns = (squares - n_samples) / 2
    expected = rows * columns / max(1.0, n_samples * (n_samples - 1) / 2)
    largest = (rows + columns) / 2
    differ = np.abs(largest - expected) > 1e-12
    return np.where(differ, (cells - expected) / np.where(differ, largest - expected, 1.0), 1.0)


def _guided(
    columns: NDArray[np.float64],
    scaled: NDArray[np.float64],
    scales: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    consensus: NDArray[np.float64],
    clusters: NDArray[np.intp],
    known: NDArray[np.bool_] | None,
) -> Guided:
    """Align the partition of new clusters with the consensus, and label its rows."""
    n_clusters = coefficients.shape[1]
    products = scaled.T @ scaled
    products += PARTITION_SHRINKAGE * np.trace(products) / len(products) * np.eye(len(products))
    indicators = np.eye(n_clusters)[clusters]
    regression = np.linalg.solve(products, scaled.T @ (indicators - indicators.mean(axis=0)))
    hinted = polar(scaled @ regression, xp=xp)
    views = polar(consensus, xp=xp)
    blocks, average = compress_partitions([hinted.isometry], views.isometry, xp=xp)
    result = solve_alignment(blocks, average, regularization=1.0 / HINT_WEIGHT, xp=xp)
    of_hints, of_views = result.mixing
    found = scales[:, None] * regression @ hinted.inverse_root @ of_hints
    found += coefficients @ views.inverse_root @ of_views
    rows = columns @ found
    used: Any = slice(None) if known is None else known
    rule = fit_linear_discriminant(rows[used], clusters[used], n_clusters)
    return Guided(found, np.asarray(rule.predict(rows)), rule)
