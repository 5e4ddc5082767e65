"""What every view is good for: intervals of the weights, and what would be without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import array_api_compat.numpy as xp
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import threads_for
from latefusion.estimators.cluster_number import LEAST_SAMPLES, NUMBER_SAMPLES, stability_of, stability_without_views
from latefusion.estimators.contributions import cluster_directions, contributions, share_contributions
from latefusion.estimators.fusion import WEIGHINGS, Choice
from latefusion.metrics import match_labels
from latefusion.partitions.ensemble import EnsembleKey
from latefusion.partitions.sources import count_samples, known_samples, take_samples, without_view
from latefusion.progress import report_progress
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
    """What happens without one of the views.

    Attributes
    ----------
    view : str
    changed : float
        Share of the samples that get another label, after the best renaming.
    stability : float
        How well the clusters of the other views are found again in other samples (adjusted Rand index).
    gain : float
        By how much that is more than with all views.
    doubt : float
        Standard error of the gain.
    left_out : int
        Samples that have no other view; all of the above is of the others.
    """

    view: str
    changed: float
    stability: float
    gain: float
    doubt: float
    left_out: int = 0

    def __str__(self) -> str:
        """The verdict in a sentence."""
        if abs(self.gain) <= 2 * self.doubt:
            effect = f"leaves stability as it is ({self.gain:+.3f} ± {self.doubt:.3f})"
        else:
            effect = f"{'raises' if self.gain > 0 else 'lowers'} stability ({self.gain:+.3f} ± {self.doubt:.3f})"
        verdict = f"Dropping view {self.view!r} changes {self.changed:.0%} of the labels and {effect}."
        if self.left_out == 0:
            return verdict
        return f"{verdict} {self.left_out} samples have no other view and are left out."


class ViewDiagnosticsMixin:
    """Methods of a fitted `LateFusionClustering` that look at its views."""

    consensus_: Any
    labels_: Any
    observed_: Any
    partition_weights_: Any
    rotations_: Any
    view_weights_: Any
    view_names_: Any
    partitions_: Any
    n_views_: int
    n_clusters_: int
    kind_: str
    weighing_: str
    regularization_: float
    _average: Any
    _assign: Any
    _fusion: Any
    _fusions: Any
    _judge: Any
    _keys_of: Any
    _keys_to_fit: Any
    _mask: Any
    _plan: Any
    _search_samples: Any
    _seed: int
    _shares: Any
    _solver_options: Any
    _sources: Any

    def weight_intervals(self, n_bootstrap: int = 200, level: float = 0.95) -> WeightIntervals:
        """Bootstrap intervals of the view weights.

        The samples are drawn anew, their partitions stay what they are, and the alignment is solved again.

        Parameters
        ----------
        n_bootstrap : int, default=200
        level : float, default=0.95
            Share of the bootstrap weights that the interval holds.

        Returns
        -------
        WeightIntervals
        """
        check_is_fitted(self)
        if n_bootstrap < 2 or not 0 < level < 1:
            raise ValueError(
                f"n_bootstrap must be at least 2 and level between 0 and 1, got n_bootstrap={n_bootstrap!r} and "
                f"level={level!r}."
            )
        generator = np.random.default_rng(self._seed)
        known = known_samples(self._mask)
        drawn_from = slice(None) if known is None else known
        average = self._average[drawn_from]
        partitions = [
            factor * one[drawn_from] for factor, one in zip(self._plan.values(), self.partitions_, strict=True)
        ]
        n_samples = len(average)
        drawn = []
        with threads_for(n_samples):
            for _ in range(n_bootstrap):
                roots = np.sqrt(generator.multinomial(n_samples, np.full(n_samples, 1 / n_samples)))[:, None]
                small = compress_partitions([roots * one for one in partitions], roots * average, xp=xp)
                result = solve_alignment(*small, regularization=self.regularization_, **self._solver_options(), xp=xp)
                drawn.append(self._weights_of_views(result.weights))
        tail = (1 - level) / 2
        lower, upper = np.quantile(drawn, [tail, 1 - tail], axis=0)
        return WeightIntervals(self.view_weights_, lower, upper)

    def sample_view_weights(self) -> NDArray[np.float64]:
        """How much every view has to do with the cluster of every sample.

        Returns
        -------
        ndarray of shape (n_samples, n_views)
            Rows sum to one; zero where a sample lacks a view, or where the view speaks against its cluster. What all
            views together contribute is every view's by its share.
        """
        check_is_fitted(self)
        directions = cluster_directions(self.consensus_, self.labels_)
        terms = contributions(self.partitions_, self.rotations_, self.partition_weights_, directions)
        of_views = terms @ (self._owners()[:, None] == np.arange(self.n_views_ + 1))
        together = of_views[:, -1:] * self._shares / self._shares.sum()
        return share_contributions(of_views[:, :-1] + together, self.observed_)

    def searched_samples(self) -> NDArray[np.intp]:
        """The samples that the search for kinds and λ looked at.

        Returns
        -------
        ndarray of shape (n_seen,)
            Row numbers in order; those of all samples for problems that are not large.
        """
        check_is_fitted(self)
        seen = self._search_samples(len(self.labels_))
        return np.arange(len(self.labels_)) if seen is None else seen

    def criterion(self) -> Callable[[NDArray[Any]], float]:
        """The score by which candidates were chosen, for any clustering of the same samples.

        Returns
        -------
        callable
            From labels of all samples to the score that a candidate with these labels would have had.
        """
        seen = self.searched_samples()
        sources = self._sources if len(seen) == len(self.labels_) else [one.take(seen) for one in self._sources]
        keys = None  # where rows are filled in, neighbours in all views together are those of what was filled in
        if self._mask is None:
            keys = [EnsembleKey(view, name) for view, one in enumerate(sources) for name in one.similarities]
        with threads_for(len(seen)):
            judge = self._judge(*self._fusions(sources, keys).values())

        def score(labels: NDArray[Any]) -> float:
            own = np.unique(labels, return_inverse=True)[1]
            value: float = judge.score(own[seen], self.n_clusters_).value
            return value

        return score

    def leave_one_view_out(self) -> list[ViewVerdict]:
        """What happens without each of the views: labels that change, and whether clusters become more stable.

        Samples that have no other view are left out, on both sides of the comparison, and counted.

        Returns
        -------
        list of ViewVerdict
            One per view, in their order.
        """
        check_is_fitted(self)
        if self.n_views_ < 2:
            raise ValueError("There is only one view: without it nothing is left.")
        if self._mask is not None:
            self._require_samples_to_halve()
        with threads_for(len(self.labels_)):
            return self._verdicts()

    def _verdicts(self) -> list[ViewVerdict]:
        report_progress("stability", 0.0)
        stabilities = self._stabilities()
        verdicts = []
        for view, (name, (whole, found)) in enumerate(zip(self.view_names_, stabilities, strict=True)):
            report_progress(f"without {name}", STABILITY_SHARE + (1 - STABILITY_SHARE) * view / self.n_views_)
            rest, kept = without_view(self._sources, view)
            before = self.labels_[kept]
            labels = match_labels(before, self._labels_of(rest))
            gains = found - whole
            verdicts.append(
                ViewVerdict(
                    str(name),
                    float(np.mean(labels != before)),
                    float(found.mean()),
                    float(gains.mean()),
                    float(gains.std(ddof=1) / np.sqrt(len(gains))),
                    len(self.labels_) - len(before),
                )
            )
        return verdicts

    def _require_samples_to_halve(self) -> None:
        """Both halves of the samples need some in every view."""
        share = min(1.0, NUMBER_SAMPLES / count_samples(self._sources))
        for name, n_observed in zip(self.view_names_, self._mask.sum(axis=0), strict=True):
            if n_observed * share < LEAST_SAMPLES:
                raise ValueError(
                    f"Whether clusters are found again is asked of halves of at most {NUMBER_SAMPLES} samples, among "
                    f"which every view needs about {LEAST_SAMPLES}, but view {str(name)!r} has about "
                    f"{n_observed * share:.0f}: fit without this view."
                )

    def _stabilities(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """For every view, how well clusters are found again with it and without it, in the same samples."""
        choice = Choice(self.kind_, WEIGHINGS[0])
        arguments = (choice, self.n_clusters_, self._assign, self._seed)
        if self._mask is None:
            whole, *without = stability_without_views(self._sources, *arguments)
            return [(whole, found) for found in without]
        pairs = []
        for view in range(self.n_views_):
            rest, kept = without_view(self._sources, view)
            every = take_samples(self._sources, kept)
            pairs.append((stability_of(every, *arguments), stability_of(rest, *arguments)))
        return pairs

    def _labels_of(self, sources: Any) -> NDArray[np.intp]:
        """Labels from other views by the choice that was made for these."""
        choice = Choice(self.kind_, self.weighing_ if len(sources) > 1 else WEIGHINGS[0])
        fusion = self._fusion(sources, self._keys_to_fit(sources, self._keys_of(sources, choice)))
        (fused,) = fusion.fuse(fusion.plan(choice), [self.regularization_], **self._solver_options())
        labels, _ = self._assign(np.asarray(fusion.ensemble.rows(fused.coefficients)), self.n_clusters_)
        found: NDArray[np.intp] = labels
        return found

    def _weights_of_views(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """From the weights of the partitions; what all views together contribute is every view's by its share."""
        squares = np.bincount(self._owners(), weights=weights**2, minlength=self.n_views_ + 1)
        of_views: NDArray[np.float64] = np.sqrt(squares[:-1] + squares[-1] * self._shares / self._shares.sum())
        return of_views

    def _owners(self) -> NDArray[np.intp]:
        """The view of every base partition; one more number stands for all views together."""
        return np.array([key.view for key in self._plan])
