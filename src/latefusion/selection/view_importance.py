"""The importance of views: intervals of their weights, and the effect of leaving each of them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import array_api_compat.numpy as xp
import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import to_numpy
from latefusion.metrics import match_labels
from latefusion.partitions.sources import (
    Source,
    count_samples,
    known_samples,
    observed_mask,
    take_samples,
    without_view,
)
from latefusion.progress import report_progress
from latefusion.selection.candidates import WEIGHTINGS, Plan
from latefusion.selection.cluster_number import LEAST_SAMPLES, NUMBER_SAMPLES, stabilities
from latefusion.selection.criterion import standard_error
from latefusion.selection.dependence import unrelated_views
from latefusion.selection.options import Selected
from latefusion.selection.spaces import fit_spaces
from latefusion.solvers import compress_partitions, solve_alignment

# About the share of the time of `leave_one_view_out` that stabilities take.
STABILITY_SHARE = 0.3


class WeightIntervals(NamedTuple):
    """Intervals of the view weights.

    Attributes
    ----------
    weights : ndarray of shape (n_views,)
        Those of all samples.
    lower, upper : ndarray of shape (n_views,)
    """

    weights: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class ViewVerdict(NamedTuple):
    """The effect of leaving out one view.

    Attributes
    ----------
    view : str
    changed : float
        Share of the samples whose label changes, after the best matching of clusters.
    stability : float
        Stability of the clusters of the other views between halves of the samples (adjusted Rand index).
    gain : float
        By how much that exceeds the stability with all views.
    standard_error : float
        Standard error of the gain.
    left_out : int
        Samples that have no other view; they are excluded from all of the above.
    unrelated : bool
        Whether the view is statistically unrelated to all other views, and therefore has no weight.
    """

    view: str
    changed: float
    stability: float
    gain: float
    standard_error: float
    left_out: int = 0
    unrelated: bool = False

    @property
    def advice(self) -> str:
        """What to do with the view: "keep" if the clusters are less stable without it, "remove", or "optional"."""
        if self.unrelated or self.gain > 2 * self.standard_error:
            return "remove"
        return "keep" if self.gain < -2 * self.standard_error else "optional"

    @property
    def effect(self) -> str:
        """What happens without a view that is to be kept, in words that follow a comma."""
        return "the clusters are less stable"

    @property
    def reason(self) -> str:
        """Why a view could be removed, in words that follow a colon."""
        return f"without it the clusters are more stable ({self.gain:+.3f} ± {self.standard_error:.3f})"

    def __str__(self) -> str:
        """The verdict in a sentence."""
        effect = "does not change significantly"
        if abs(self.gain) > 2 * self.standard_error:
            effect = "rises" if self.gain > 0 else "falls"
        verdict = (
            f"Without {self.view!r}: {self.changed:.0%} of the labels change; stability {effect} "
            f"({self.gain:+.3f} ± {self.standard_error:.3f})."
        )
        if self.left_out > 0:
            verdict += f" {self.left_out} samples have no other view and are excluded."
        if self.unrelated:
            verdict += " It is statistically unrelated to all other views and has no weight. Remove it."
        return verdict


def weights_of_views(weights: NDArray[Any], plan: Plan, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of views from those of partitions; the weight of all views together is divided by shares.

    Parameters
    ----------
    weights : ndarray of shape (n_partitions,)
    plan : mapping of PartitionKey to float
        The partitions, in the order of the weights.
    shares : ndarray of shape (n_views,)

    Returns
    -------
    ndarray of shape (n_views,)
    """
    squares = np.bincount([key.view for key in plan], weights=weights**2, minlength=len(shares) + 1)
    of_views: NDArray[np.float64] = np.sqrt(squares[:-1] + squares[-1] * shares / shares.sum())
    return of_views


def weight_intervals(
    selected: Selected,
    partitions: Sequence[NDArray[Any]],
    weights: NDArray[np.float64],
    n_bootstrap: int,
    level: float,
) -> WeightIntervals:
    """Bootstrap intervals of the view weights: samples are drawn again, partitions stay, the alignment is solved again.

    Parameters
    ----------
    selected : Selected
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Those that were fused.
    weights : ndarray of shape (n_views,)
        Of all samples.
    n_bootstrap : int
    level : float
        Share of the bootstrap weights inside the interval.

    Returns
    -------
    WeightIntervals
    """
    if n_bootstrap < 2 or not 0 < level < 1:
        raise ValueError(
            f"n_bootstrap must be at least 2 and level between 0 and 1, got n_bootstrap={n_bootstrap!r} and "
            f"level={level!r}."
        )
    generator = np.random.default_rng(selected.options.seed)
    known = known_samples(observed_mask(selected.sources))
    used: Any = slice(None) if known is None else known
    assert selected.mean is not None
    mean = to_numpy(selected.mean)[used]
    n_samples, n_clusters = mean.shape
    own = []
    for factor, one in zip(selected.plan.values(), partitions, strict=True):
        # A view with fewer directions than clusters has columns of zeros.
        own.append(np.pad(factor * one[used], ((0, 0), (0, n_clusters - one.shape[1]))))
    regularization = selected.candidate.regularization
    drawn = []
    for _ in range(n_bootstrap):
        roots = np.sqrt(generator.multinomial(n_samples, np.full(n_samples, 1 / n_samples)))[:, None]
        small = compress_partitions([roots * one for one in own], roots * mean, xp=xp)
        result = solve_alignment(*small, regularization=regularization, **selected.options.solver, xp=xp)
        drawn.append(weights_of_views(result.weights, selected.plan, selected.shares))
    tail = (1 - level) / 2
    lower, upper = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return WeightIntervals(weights, lower, upper)


def leave_one_view_out(selected: Selected, names: Sequence[str], consensus: NDArray[Any]) -> list[ViewVerdict]:
    """The effect of leaving out each view: labels that change, and the change of stability.

    Labels with and without a view are assigned in the same way, without moving samples between clusters.

    Parameters
    ----------
    selected : Selected
    names : sequence of str
        Of the views.
    consensus : ndarray of shape (n_samples, n_clusters)

    Returns
    -------
    list of ViewVerdict
        One per view.
    """
    if len(names) < 2:
        raise ValueError("There is only one view, so that none can be left out.")
    _check_halves(selected.sources, names)
    report_progress("stability", 0.0)
    labels = to_numpy(selected.options.assign(consensus, selected.candidate.n_clusters)[0])
    unrelated = unrelated_views(selected.dependence)
    verdicts = []
    for view, (name, (whole, found)) in enumerate(zip(names, _stability_pairs(selected), strict=True)):
        report_progress(f"without {name}", STABILITY_SHARE + (1 - STABILITY_SHARE) * view / len(names))
        rest, kept = without_view(selected.sources, view)
        before = labels[kept]
        after = match_labels(before, _labels_of(rest, selected, view))
        gains = found - whole
        verdicts.append(
            ViewVerdict(
                name,
                float(np.mean(after != before)),
                float(found.mean()),
                float(gains.mean()),
                standard_error(gains),
                len(labels) - len(before),
                bool(unrelated[view]),
            )
        )
    return verdicts


def _check_halves(sources: Sequence[Source], names: Sequence[str]) -> None:
    """Both halves of the samples need some in every view."""
    share = min(1.0, NUMBER_SAMPLES / count_samples(sources))
    for name, source in zip(names, sources, strict=True):
        n_observed = source.coordinates.shape[0]
        if source.observed is not None and n_observed * share < LEAST_SAMPLES:
            raise ValueError(
                f"Stability is measured between halves of at most {NUMBER_SAMPLES} samples and needs about "
                f"{LEAST_SAMPLES} of them in every view, but view {name!r} has about {n_observed * share:.0f}. Fit "
                f"without this view."
            )


def _stability_pairs(selected: Selected) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """For every view, stability with it and without it, between the same halves."""
    sources, candidate, options = selected.sources, selected.candidate, selected.options
    arguments = candidate.similarity, candidate.n_clusters, options.assign, options.seed
    prior = options.prior
    everything = range(len(sources))
    others = [{*everything} - {view} for view in everything]
    if observed_mask(sources) is None:
        whole, *without = stabilities(sources, [everything, *others], *arguments, prior)
        return [(whole, found) for found in without]
    pairs = []
    for view in everything:
        rest, kept = without_view(sources, view)
        (whole,) = stabilities(take_samples(sources, kept), [everything], *arguments, prior)
        left = None if prior is None else np.delete(prior, view)
        (found,) = stabilities(rest, [range(len(rest))], *arguments, left)
        pairs.append((whole, found))
    return pairs


def _labels_of(sources: Sequence[Source], selected: Selected, left_out: int | None = None) -> NDArray[np.intp]:
    """Labels, perhaps without one view, by the choice that was made for all views."""
    candidate, options = selected.candidate, selected.options
    if options.prior is not None and left_out is not None:
        options = replace(options, prior=np.delete(options.prior, left_out))
    if len(sources) == 1:
        candidate = candidate._replace(weighting=WEIGHTINGS[0])
    (space,) = fit_spaces(sources, candidate.n_clusters, options, candidate).values()
    plan = space.plan(candidate.similarity, candidate.weighting)
    (fused,) = space.fuse(plan, [candidate.regularization], **options.solver)
    return to_numpy(options.assign(space.partitions.times(fused.coefficients), candidate.n_clusters)[0])
