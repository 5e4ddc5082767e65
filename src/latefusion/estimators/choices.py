"""What `LateFusionClustering` chooses without labels: number of clusters, kinds of similarity, weighing of views, λ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from latefusion.assignment import ASSIGNMENTS
from latefusion.base import logger
from latefusion.estimators.cluster_number import (
    GREATEST_NUMBER,
    LEAST_CLUSTER,
    LEAST_SAMPLES,
    NUMBER_SAMPLES,
    choose_number,
)
from latefusion.estimators.fusion import KINDS, WEIGHINGS, Choice, Fusion, similarity_names
from latefusion.estimators.incomplete import assign_known
from latefusion.estimators.search import Candidate, Judge, Selection, choose, find_neighborhoods
from latefusion.estimators.similarities import Similarities
from latefusion.partitions import GivenPartition
from latefusion.partitions.ensemble import EnsembleKey
from latefusion.partitions.sources import JointSource, ViewSource, count_samples, known_samples, observed_mask
from latefusion.progress import progress_range, report_progress

# The similarities whose own clusterings a candidate is compared with.
OPINIONS = ("graph 10", "kernel", "given")
OPINION_STARTS = 3
# Starts of the label assignment of a candidate; what is chosen gets all of ``n_init``, and so do all where rows were
# filled in, which leaves clusters less clear and a bad start more likely.
CANDIDATE_STARTS = 4
REGULARIZATIONS = (1.0, 2.0, 4.0)
# Eigenvectors per cluster: with four the mean of the similarities is about as good as if it had been formed; many
# clusters are content with two.
VECTORS_PER_CLUSTER = (2, 4)
ENOUGH_VECTORS = 160
# The search looks at no more samples than this, unless that leaves too few for every cluster.
SEARCH_SAMPLES = 3000
SEARCH_SAMPLES_PER_CLUSTER = 10
# About the share of the time that has gone when the number of clusters is known, and when all choices are made.
NUMBER_SHARE = 0.6
SEARCH_SHARE = 0.9
# Directions per cluster by which rows of missing views are filled in; the first is the default.
DIRECTIONS_PER_CLUSTER = (1.0, 0.5, 2.0)


class ChoicesMixin:
    """Methods of `LateFusionClustering` that try ways of fusing its sources, and take the best."""

    n_clusters: Any
    regularization: Any
    kernel: Any
    kernel_params: Any
    missing: str
    init: str
    max_iter: int
    tol: float
    assign_labels: str
    n_init: int
    n_jobs: int | None
    verbose: int
    _mask: NDArray[np.bool_] | None
    _seed: int
    _sources: list[Any]

    def _decide(self, names: Sequence[str]) -> tuple[Fusion, Mapping[EnsembleKey, float], NDArray[np.intp] | None]:
        """Number, kinds and λ: what was fitted for the search, what is to be fused, and the samples that were seen."""
        self.view_kinds_ = {name: one.kind for name, one in zip(names, self._sources, strict=True)}
        self.__dict__.pop("number_selection_", None)  # of an earlier fit
        with progress_range(0.0, NUMBER_SHARE):
            self.n_clusters_ = self._find_number() if self._seeks_number() else self.n_clusters
        begun = NUMBER_SHARE if self._seeks_number() else 0.0
        report_progress("similarities", begun)
        seen = self._search_samples(count_samples(self._sources))
        fusions = self._fusions(self._sources if seen is None else [one.take(seen) for one in self._sources])
        with warnings.catch_warnings():
            # A single view may tell fewer groups apart than there are clusters. Its opinion counts all the same.
            warnings.simplefilter("ignore", ConvergenceWarning)
            with progress_range((begun + SEARCH_SHARE) / 2, SEARCH_SHARE):
                candidates, self.selection_ = self._search(fusions)
        best = next(one for one, row in zip(candidates, self.selection_, strict=True) if row["chosen"])
        self.kind_, self.weighing_, self.regularization_ = *best.choice, best.regularization
        self.n_directions_ = best.n_directions
        fusion = fusions[best.n_directions]
        plan = fusion.plan(best.choice)
        self._shares = fusion.shares
        return fusion, plan, seen

    @property
    def _known_similarities(self) -> Similarities:
        return Similarities.of(self.kernel, self.kernel_params)

    def _seeks_number(self) -> bool:
        return not isinstance(self.n_clusters, Integral)

    def _numbers(self, n_samples: int | None = None) -> list[int]:
        """The numbers of clusters to try, as far as there are samples for them."""
        if isinstance(self.n_clusters, str):
            numbers = list(range(2, GREATEST_NUMBER + 1))
            limit = None if n_samples is None else min(n_samples, NUMBER_SAMPLES) // (2 * LEAST_CLUSTER)
        else:
            numbers = sorted({*self.n_clusters})
            limit = None if n_samples is None else min(n_samples, NUMBER_SAMPLES) // 2
        if not numbers or not all(isinstance(one, Integral) and one >= 2 for one in numbers):
            raise ValueError(
                f"n_clusters must be an integer, 'auto', or a range of integers of at least 2, got {self.n_clusters!r}."
            )
        kept = [int(one) for one in numbers if limit is None or one <= limit]
        return kept or [int(numbers[0])]

    def _find_number(self) -> int:
        n_samples = count_samples(self._sources)
        # The samples that are looked at are halved, and in each half every view needs some.
        fewest = min(one.coordinates.shape[0] for one in self._sources) * min(1.0, NUMBER_SAMPLES / n_samples)
        if fewest < LEAST_SAMPLES < n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters!r} needs about {LEAST_SAMPLES} samples in every view among the "
                f"{min(n_samples, NUMBER_SAMPLES)} that are looked at, but some view has about {fewest:.0f}: give the "
                f"number of clusters, or leave this view out."
            )
        if n_samples < LEAST_SAMPLES:
            raise ValueError(
                f"n_clusters={self.n_clusters!r} needs at least {LEAST_SAMPLES} samples, of which halves are compared, "
                f"got {n_samples}: give the number of clusters."
            )
        # Labels that are given are the same in every half: their number of clusters would always be found again.
        telling = [one for one in self._sources if not isinstance(one.similarities.get("given"), GivenPartition)]
        self.number_selection_ = choose_number(
            telling or self._sources,
            self._numbers(n_samples),
            Choice("both", WEIGHINGS[0]),
            self._assign,
            self._seed,
        )
        if not self.number_selection_.has_structure:
            warnings.warn(self.number_selection_.reason, UserWarning, stacklevel=3)
        return self.number_selection_.n_clusters

    def _search_samples(self, n_samples: int) -> NDArray[np.intp] | None:
        """The samples that the search looks at, among those that have any view; None for all."""
        known = np.arange(n_samples) if self._mask is None else np.flatnonzero(self._mask.any(axis=1))
        enough = max(SEARCH_SAMPLES, SEARCH_SAMPLES_PER_CLUSTER * self.n_clusters_)
        if len(known) <= enough:
            return None
        generator = np.random.default_rng(self._seed)
        chosen = known[np.sort(generator.choice(len(known), enough, replace=False))]
        if self._mask is None:
            return chosen
        # A view of few samples must not vanish.
        rare = []
        for observed in self._mask.T:
            lacking = SEARCH_SAMPLES_PER_CLUSTER * self.n_clusters_ - np.count_nonzero(observed[chosen])
            rare.append(generator.permutation(np.flatnonzero(observed))[: max(0, lacking)])
        return np.unique(np.concatenate([chosen, *rare]))

    def _numbers_of_directions(self) -> list[int | None]:
        """The numbers of directions by which missing rows may be filled in; none if none are."""
        if self._mask is None or self.missing == "align":
            return [None]
        return list(dict.fromkeys(max(1, round(number * self.n_clusters_)) for number in DIRECTIONS_PER_CLUSTER))

    def _fusion(
        self,
        sources: Sequence[ViewSource],
        keys: Sequence[EnsembleKey] | None = None,
        shares: NDArray[Any] | None = None,
    ) -> Fusion:
        """The similarities of some samples, with missing rows filled in as was chosen."""
        number = getattr(self, "n_directions_", None)  # files of older models do not have it
        return self._fusions(sources, keys, shares, [number])[number]

    def _fusions(
        self,
        sources: Sequence[ViewSource],
        keys: Sequence[EnsembleKey] | None = None,
        shares: NDArray[Any] | None = None,
        numbers: Sequence[int | None] | None = None,
    ) -> dict[int | None, Fusion]:
        """The similarities of some samples, those that are named or all that any candidate needs.

        One for every number of directions by which missing rows are filled in.
        """
        n_views = len(sources)
        least, most = (number * self.n_clusters_ for number in VECTORS_PER_CLUSTER)
        n_components = min(max(least, min(most, ENOUGH_VECTORS)), count_samples(sources))
        own = [EnsembleKey(view, name) for view, one in enumerate(sources) for name in one.similarities]
        named = own if keys is None else [key for key in keys if key.view < n_views]
        fitted = Fusion.of(sources, named, n_components, self.n_clusters_, self.n_jobs)
        similarities = self._known_similarities.joint(sources, self.missing)
        together = list(similarities) if keys is None else [key.similarity for key in keys if key.view == n_views]
        found = {}
        for number in self._numbers_of_directions() if numbers is None else numbers:
            fusion = fitted.filled(self.missing, number)
            if together:
                joint: Any
                if fusion.ensemble.mask is not None:
                    joint = fusion.shared_source(similarities)
                else:
                    joint = JointSource.of(sources, similarities, fusion.shares if shares is None else shares)
                fusion = fusion.with_joint(joint, together, n_components, self.n_jobs)
            found[number] = fusion
        return found

    def _keys_to_fit(self, sources: Sequence[ViewSource], keys: list[EnsembleKey]) -> list[EnsembleKey]:
        """Some similarities, and those that rows of missing views are filled in from."""
        if observed_mask(sources) is None:
            return keys
        scoring = self._keys_of(sources, Choice("both", WEIGHINGS[0]))
        together = [key for key in keys if key.view == len(sources)]
        return [*dict.fromkeys([key for key in keys if key.view < len(sources)] + scoring), *together]

    def _keys_of(self, sources: Sequence[ViewSource], choice: Choice) -> list[EnsembleKey]:
        """The similarities that a choice consists of."""
        keys = [
            EnsembleKey(view, name)
            for view, source in enumerate(sources)
            for name in similarity_names(source, choice.kind)
        ]
        if choice.weighing == WEIGHINGS[0]:
            return keys
        together = self._known_similarities.joint(sources, self.missing)
        return keys + [EnsembleKey(len(sources), name) for name in KINDS[choice.kind] if name in together]

    def _search(self, fusions: Mapping[int | None, Fusion]) -> tuple[list[Candidate], Selection]:
        """Try all kinds, weighings, λ and ways to fill in missing rows, and take the best."""
        judge = self._judge(*fusions.values())
        candidates: list[Candidate] = []
        for position, (number, fusion) in enumerate(fusions.items()):
            with progress_range(position / len(fusions), (position + 1) / len(fusions)):
                candidates += self._candidates(fusion, judge, n_directions=number)
        return candidates, choose(candidates, count_samples(next(iter(fusions.values())).sources))

    def _candidates(self, fusion: Fusion, judge: Judge, n_directions: int | None) -> Iterator[Candidate]:
        values = REGULARIZATIONS if self.regularization == "auto" else (float(self.regularization),)
        seen = set()
        choices = [Choice(kind, weighing) for kind in KINDS for weighing in WEIGHINGS]
        for position, choice in enumerate(choices):
            report_progress(f"ways of fusing, {position + 1} of {len(choices)}", position / len(choices))
            plan = fusion.plan(choice)
            if tuple(plan.items()) in seen:  # where views leave no choice, all choices are the same
                continue
            seen.add(tuple(plan.items()))
            for value, fused in zip(values, fusion.fuse(plan, values, **self._solver_options()), strict=True):
                rows = fusion.ensemble.rows(fused.coefficients)
                n_init = min(CANDIDATE_STARTS, self.n_init) if self._mask is None else self.n_init
                labels, _ = assign_known(self._assign, rows, fusion.ensemble.mask, self.n_clusters_, n_init=n_init)
                score = judge.score(labels, self.n_clusters_)
                candidate = Candidate(self.n_clusters_, choice, value, score, n_directions)
                if self.verbose:
                    logger.info("%s: %s", type(self).__name__, candidate)
                yield candidate

    def _judge(self, *fusions: Fusion) -> Judge:
        """What candidates are judged by: the same for all, however missing rows were filled in."""
        fusion = fusions[0]
        mask = fusion.ensemble.mask
        opinions: list[list[NDArray[np.intp]]] = [[] for _ in range(fusion.n_views)]
        for key, spectrum in zip(fusion.ensemble.keys, fusion.ensemble.spectra, strict=True):
            if key.view < fusion.n_views and key.similarity in OPINIONS:
                rows = spectrum.vectors[:, : self.n_clusters_]
                observed = slice(None) if mask is None else mask[:, key.view]
                opinion = np.full(len(rows), -1)
                opinion[observed] = self._assign(rows[observed], self.n_clusters_, n_init=OPINION_STARTS)[0]
                opinions[key.view].append(opinion)
        joint = [one.searches[-1] for one in fusions if len(one.searches) > one.n_views]
        neighborhoods = find_neighborhoods(fusion.searches[: fusion.n_views], fusion.shares, mask, joint)
        weights = fusion.shares * fusion.presence
        return Judge(neighborhoods, opinions, weights / weights.sum(), known_samples(mask))

    def _solver_options(self) -> dict[str, Any]:
        return {"init": self.init, "max_iter": self.max_iter, "tol": self.tol}

    def _assign(self, consensus: NDArray[Any], n_clusters: int, n_init: int | None = None) -> Any:
        assign = ASSIGNMENTS[self.assign_labels]
        return assign(consensus, n_clusters, n_init=n_init or self.n_init, random_state=self._seed)
