"""Late fusion that decides for itself: scaling, kinds of similarity and λ, without labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import threads_for
from latefusion.assignment import ASSIGNMENTS
from latefusion.base import KERNEL_CONSTRAINTS, MultiViewClusterMixin, logger, warn_not_converged
from latefusion.estimators.cluster_number import (
    GREATEST_NUMBER,
    LEAST_CLUSTER,
    LEAST_SAMPLES,
    NUMBER_SAMPLES,
    choose_number,
)
from latefusion.estimators.diagnostics import ViewDiagnosticsMixin
from latefusion.estimators.fusion import KINDS, WEIGHINGS, Choice, Fusion, similarity_names
from latefusion.estimators.incomplete import (
    IncompleteExtension,
    assign_known,
    observed_agreement,
    weigh_confidence,
)
from latefusion.estimators.new_samples import NewSamplesMixin
from latefusion.estimators.search import Candidate, Judge, Selection, choose, find_neighborhoods
from latefusion.estimators.similarities import Similarities
from latefusion.partitions import GivenPartition
from latefusion.partitions.ensemble import EnsembleKey
from latefusion.partitions.preparation import has_entries
from latefusion.partitions.sources import (
    JointSource,
    KernelSource,
    PartialSource,
    ViewSource,
    count_samples,
    known_samples,
    mask_zero_rows,
    observed_mask,
)
from latefusion.solvers.late_fusion_spectra import FusedSpectra
from latefusion.steps import say, within
from latefusion.types import Views
from latefusion.validation import can_be_fused, check_diagonals

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


class LateFusionClustering(
    ViewDiagnosticsMixin,
    NewSamplesMixin,
    MultiViewClusterMixin,
    BaseEstimator,
):
    """Multi-view clustering by late fusion that needs nothing but the views.

    Every view is scaled by what it holds (counts, distributions, measurements in different units, coordinates). From
    every view come several base partitions, of nearest-neighbour graphs and of a kernel, which are fused by global
    alignment. Which kinds of partition and how strong the pull λ towards their mean is chosen by how much the clusters
    say about neighbouring samples and about the clusterings of the single views; no labels are used.

    Parameters
    ----------
    n_clusters : int, "auto" or range, default=8
        Number of clusters; "auto" tries 2 to 20, a range or list the numbers in it, and takes the one whose clusters
        are found again in other samples and say most about the data.
    regularization : float or "auto", default="auto"
        Pull towards the partition of the mean similarity (the paper's λ); "auto" chooses among 1, 2 and 4.
    views : mapping or sequence, default=None
        When X is one table: the columns of every view, as slices, positions or names. None makes it a single view.
    partition : {"auto", "kernel", "graph", "precomputed", "labels"}, object, or one of these per view, default="auto"
        Where base partitions come from: "kernel" and "graph" leave no choice, "auto" tries both and their combination;
        with "precomputed" the view is a kernel, from which distances for graphs are taken as well; with "labels" it is
        a clustering, one label per sample, which a one-dimensional view of text or categories is in any case. An object
        such as `KernelPartition` or `GivenPartition` gives the one base partition of its view.
    kernel : {"gaussian", "linear", "polynomial", "laplace", "sigmoid"} or callable, default="gaussian"
        Kernel of the scaled features.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out are taken from the data.
    missing : {"impute", "align"}, default="impute"
        What is done about samples that lack views. Similarities of a view are those of the samples that have it, either
        way. "impute" fills in the rows of its eigenvectors for the others, from the views that they have and by what
        views have in common; "align" leaves them zero. Rows of zeros in views of counts or distributions, which are
        compared by direction, are missing as well then. Without missing views there is no difference, and rows of
        zeros are rows like others.
    init : {"align", "identity"}, default="align"
        Start of the rotations.
    max_iter : int, default=100
        Cap on the number of iterations.
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    assign_labels : {"kmeans", "rotation", "cluster_qr"}, default="kmeans"
        How the consensus is turned into labels.
    n_init : int, default=10
        Starts of the label assignment.
    random_state : int, RandomState or None, default=None
        For the label assignment and, above 3000 samples, for the samples that the search looks at.
    n_jobs : int, default=None
        Similarities worked on at the same time (threads).
    verbose : int, default=0
        Log every candidate.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        The consensus partition F.
    view_weights_ : ndarray of shape (n_views,)
        Weight of every view, their squares sum to one. All partitions of a view share it.
    selection_ : Selection
        What was tried, the score of each, and why this one won.
    number_selection_ : NumberOfClusters
        The evidence for every number of clusters that was tried, where there was a choice.
    kind_ : {"both", "graph", "kernel"}
        Kind of base partitions that was chosen.
    weighing_ : {"alike", "by agreement"}
        Whether all views count alike from the start, or by how well each agrees with the others; then all views side by
        side are one more view.
    regularization_ : float
        λ that was chosen.
    n_directions_ : int or None
        Number of directions that views were taken to have in common when missing rows were filled in; None if none
        were.
    view_kinds_ : dict
        What every view was found to hold: "counts", "distribution", "measurements", "coordinates", "kernel", "labels",
        "memberships" or "embedding"; "given" where the partition is another object.
    confidence_ : ndarray of shape (n_samples,)
        From 0 (two clusters fit equally well) to 1; lower for samples that lack views, by how much these count.
    agreement_ : ndarray of shape (n_views,)
        How well the base partitions of every view agree with the consensus, 0 to 1.
    partitions_ : list of ndarray of shape (n_samples, n_clusters)
        The base partitions that were fused.
    partition_names_ : list of (str, str)
        View and similarity of every base partition.
    partition_weights_ : ndarray of shape (n_partitions,)
        Weight of every base partition in the consensus.
    rotations_ : ndarray of shape (n_partitions, n_clusters, n_clusters)
    objective_ : ndarray
        Value after every iteration.
    n_iter_ : int
    converged_ : bool
    n_clusters_ : int
    observed_ : ndarray of bool of shape (n_samples, n_views)
        Which samples have which views; rows of zeros that were taken as missing are not there.
    n_observed_views_ : ndarray of shape (n_samples,)
        Number of views that every sample has; zero for samples that have rows of zeros only.
    view_names_, n_views_, n_features_in_, n_features_per_view_
        What was fitted on.

    See Also
    --------
    GlobalAlignmentClustering : one partition per view, all choices yours.
    LocalAlignmentClustering : central samples count more.

    Examples
    --------
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=150, n_clusters=3, random_state=0)
    >>> model = lf.LateFusionClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), "array-like", range],
        "regularization": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "missing": [StrOptions({"align", "impute"})],
        "init": [StrOptions({"align", "identity"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "assign_labels": [StrOptions(set(ASSIGNMENTS))],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _accepts_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        regularization: float | str = "auto",
        views: Any = None,
        partition: Any = "auto",
        kernel: Any = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        missing: str = "impute",
        init: str = "align",
        max_iter: int = 100,
        tol: float = 1e-6,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.regularization = regularization
        self.views = views
        self.partition = partition
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.missing = missing
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or `Views` of arrays, MuData, one table, or kernels
            Several views of the same samples; one table with ``views=`` naming groups of its columns, or as a single
            view; with ``partition="precomputed"`` a list of kernels or an array of shape (n_samples, n_samples,
            n_views).
        y : ignored
            Present by convention.

        Returns
        -------
        self
        """
        views = self._fit_views(X, n_clusters=min(self._numbers()) if self._seeks_number() else None)
        with threads_for(len(views)):
            self._fit(views)
        if not self.converged_:
            warn_not_converged(type(self).__name__, self.max_iter)
        return self

    def _consensus_rows(self, X: Any, diagonals: Any) -> NDArray[Any]:
        views = self.new_views(X)
        checked = check_diagonals(diagonals, list(self.view_names_), len(views))
        self._check_self_similarities(checked, np.any(views.observed, axis=0).tolist())
        mask = self._heard(views)
        if self._mask is not None or (mask is not None and not mask.all()):
            if self._extension is None:
                raise ValueError(
                    "This model was fitted on chunked views, so it knows no samples from which views that new ones "
                    "lack could be filled in: give all views of them, or fit on a sample of the rows in memory."
                )
            return self._extension(views.arrays, views.observed if mask is None else mask, checked)
        joint = self._joint.place(views.arrays, checked) if self._joint is not None else None
        rows: Any = 0.0
        for key, spectrum, coefficients in self._members:
            if key.view == self.n_views_:
                own = spectrum.extend(joint)
            else:
                own = self._sources[key.view].extend(
                    key.similarity, spectrum, views.arrays[key.view], checked[key.view]
                )
            rows = rows + own @ coefficients
        return np.asarray(rows)

    def _heard(self, views: Views) -> NDArray[np.bool_] | None:
        """Which views of new samples say something; None for all."""
        directed = np.flatnonzero(getattr(self, "_directed", ()))  # files of older models do not have it
        if not len(directed):
            return views.mask
        mask = views.observed.copy()
        for view in directed:
            mask[:, view] &= has_entries(views.arrays[view])
        return mask

    def _accepts_missing_views(self) -> bool:
        return True

    def _fit(self, views: Views) -> None:
        """Number, kinds and λ, by what the samples say; then the consensus."""
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._sources = [self._source(views, view) for view in range(self.n_views_)]
        self._directed = np.zeros(self.n_views_, dtype=bool)
        if self._mask is not None:
            self._leave_out_zero_rows(views, self._mask)
        fusion, plan, seen = self._decide(views.names)
        say("consensus", SEARCH_SHARE)
        if seen is not None:
            fusion = self._fusion(self._sources, self._keys_to_fit(self._sources, list(plan)), self._shares)
        self._store(fusion, plan, *fusion.fuse(plan, [self.regularization_], **self._solver_options()))

    def _source(self, views: Views, view: int) -> ViewSource:
        observed = None if self._mask is None else self._mask[:, view]
        return self._known_similarities.source(views, view, self._partition_specs(views)[view], observed)

    def _leave_out_zero_rows(self, views: Views, mask: NDArray[np.bool_]) -> None:
        """Rows of zeros are missing in views that are compared by directions, if enough is left."""
        heard, directed = mask_zero_rows(self._sources, mask)
        if not can_be_fused(heard, min(self._numbers()) if self._seeks_number() else self.n_clusters):
            return
        self._directed, self._mask = directed, heard
        self.observed_, self.n_observed_views_ = heard, heard.sum(axis=1, dtype=np.intp)
        # Anew: what a view holds and how rare its words are is told by the rows that are left.
        for view in np.flatnonzero((heard != mask).any(axis=0)):
            self._sources[view] = self._source(views, int(view))

    def _decide(self, names: Sequence[str]) -> tuple[Fusion, Mapping[EnsembleKey, float], NDArray[np.intp] | None]:
        """Number, kinds and λ: what was fitted for the search, what is to be fused, and the samples that were seen."""
        self.view_kinds_ = {name: one.kind for name, one in zip(names, self._sources, strict=True)}
        self.__dict__.pop("number_selection_", None)  # of an earlier fit
        with within(0.0, NUMBER_SHARE):
            self.n_clusters_ = self._find_number() if self._seeks_number() else self.n_clusters
        begun = NUMBER_SHARE if self._seeks_number() else 0.0
        say("similarities", begun)
        seen = self._search_samples(count_samples(self._sources))
        fusions = self._fusions(self._sources if seen is None else [one.take(seen) for one in self._sources])
        with warnings.catch_warnings():
            # A single view may tell fewer groups apart than there are clusters. Its opinion counts all the same.
            warnings.simplefilter("ignore", ConvergenceWarning)
            with within((begun + SEARCH_SHARE) / 2, SEARCH_SHARE):
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
            fusion = fitted.repaired(self.missing, number)
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
            with within(position / len(fusions), (position + 1) / len(fusions)):
                candidates += self._candidates(fusion, judge, n_directions=number)
        return candidates, choose(candidates, count_samples(next(iter(fusions.values())).sources))

    def _candidates(self, fusion: Fusion, judge: Judge, n_directions: int | None) -> Iterator[Candidate]:
        values = REGULARIZATIONS if self.regularization == "auto" else (float(self.regularization),)
        seen = set()
        choices = [Choice(kind, weighing) for kind in KINDS for weighing in WEIGHINGS]
        for position, choice in enumerate(choices):
            say(f"ways of fusing, {position + 1} of {len(choices)}", position / len(choices))
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

    def _store(self, fusion: Fusion, plan: Mapping[EnsembleKey, float], fused: FusedSpectra) -> None:
        ensemble, result = fusion.ensemble, fused.result
        self.consensus_ = np.asarray(ensemble.rows(fused.coefficients))
        self.labels_, self._rule = assign_known(self._assign, self.consensus_, self._mask, self.n_clusters_)
        self.objective_ = np.asarray(result.objective)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.rotations_ = result.rotations
        self.partition_weights_ = np.asarray(result.weights) * np.array(list(plan.values()))
        together = any(key.view == self.n_views_ for key in (plan if self._mask is None else ensemble.keys))
        self._joint = fusion.sources[-1] if together else None
        self._members = []
        self._plan = plan
        self._average = np.asarray(ensemble.rows(fused.mean))
        names = [*map(str, self.view_names_), "all views"]
        self.partition_names_, self.partitions_ = [], []
        for key in plan:
            spectrum, own = ensemble.spectra[ensemble.position(key)], ensemble.columns[ensemble.position(key)]
            self._members.append((key, spectrum, fused.coefficients[own].astype(spectrum.vectors.dtype)))
            self.partition_names_.append((names[key.view], key.similarity))
            self.partitions_.append(spectrum.vectors[:, : self.n_clusters_])
        fitted = ensemble.restricted(list(plan)) if self._mask is None else ensemble
        coefficients = np.concatenate(
            [fused.coefficients[ensemble.columns[ensemble.position(key)]] for key in fitted.keys]
        )
        self._extension = IncompleteExtension(self._sources, self._joint, fitted, coefficients, self.missing)
        owners = np.array([key.view for key in plan])
        self.view_weights_ = self._weights_of_views(result.weights)
        self.confidence_ = weigh_confidence(self._rule.confidence(self.consensus_), self.view_weights_, self._mask)
        agreement = [
            observed_agreement(partition, self.consensus_, None if key.view == self.n_views_ else self._mask, key.view)
            for key, partition in zip(plan, self.partitions_, strict=True)
        ]
        of_views = owners < self.n_views_
        self.agreement_ = np.bincount(owners[of_views], np.array(agreement)[of_views]) / np.bincount(owners[of_views])
        self._n_features_out = self.n_clusters_

    def _check_self_similarities(self, diagonals: Sequence[Any], present: Sequence[bool]) -> None:
        for name, source, diagonal, here in zip(self.view_names_, self._sources, diagonals, present, strict=True):
            source = source.source if isinstance(source, PartialSource) else source
            if not isinstance(source, KernelSource) or diagonal is not None or not here:
                continue
            if getattr(source.spectrum.extension, "self_similarity", 1.0) is None:
                raise ValueError(
                    f"The training kernel of view {name!r} has no constant diagonal, so new samples need their "
                    f"self-similarities k(x, x): pass them as diagonals={{{name!r}: ...}}."
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
