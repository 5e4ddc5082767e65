"""Content of the sections about the samples: summary, clusters, samples to check, missing views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.experiments.comparison import SCORES
from latefusion.interpretation.gather import ModelData, shorten
from latefusion.interpretation.importance import Explanation, Importance
from latefusion.interpretation.outcomes import LEVEL, Outcome
from latefusion.interpretation.traits import Trait
from latefusion.metrics import clustering_scores
from latefusion.report.baselines import Baselines
from latefusion.report.widgets import integer, percent
from latefusion.summaries import LOW_CONFIDENCE, hint_line

# Limits of tables that would otherwise grow with the data.
MOST_TRAITS = 20
MOST_PATTERNS = 20
MOST_SAMPLES = 10
MOST_VIEWS = 8
# Samples with at least this confidence are clearly assigned.
HIGH_CONFIDENCE = 0.5
# Confidences from here on are shown as 1.000, so that there is nothing to check.
SHOWN_AS_ONE = 0.9995
# A sample with a higher novelty is farther from the others than 99 % of them are.
NOVEL = 1.0
# Weights that differ by less are similar.
SIMILAR_WEIGHTS = 0.05
# Clusterings with a higher adjusted Rand index are nearly the same.
NEARLY_SAME = 0.95


def summary(
    data: ModelData,
    importance: Importance,
    explanation: Explanation,
    baselines: Baselines | None,
    outcome: Outcome | None = None,
) -> list[str]:
    """Main results, one sentence or two each: sizes, confidence, novelty, hints, views, baselines, scores, outcome.

    Parameters
    ----------
    data : ModelData
    importance : Importance
    explanation : Explanation
    baselines : Baselines or None
    outcome : Outcome, default=None

    Returns
    -------
    list of str
    """
    hints = hint_line(data.model)
    return [
        *_about_sizes(data.sizes),
        *_about_confidence(data),
        *_about_novelty(data),
        *([] if hints is None else [hints]),
        *_about_views(data, importance, explanation),
        *_about_baselines(data, baselines),
        *_about_scores(data),
        *([] if outcome is None else [_about_outcome(outcome)]),
    ]


def _about_sizes(sizes: NDArray[np.intp]) -> list[str]:
    least, most = (f"{integer(size)} ({percent(size / sizes.sum(), 1)})" for size in (sizes.min(), sizes.max()))
    if len(sizes) == 1:
        return []
    if sizes.min() == sizes.max():
        return [f"Cluster sizes: {most} of the samples each."]
    return [f"Cluster sizes: {least} to {most} of the samples."]


def _about_confidence(data: ModelData) -> list[str]:
    if data.confidence is None:
        return []
    high, low = (float(np.mean(one)) for one in (data.confidence >= HIGH_CONFIDENCE, data.confidence < LOW_CONFIDENCE))
    return [
        f"Confidence: {percent(high)} of the samples are clearly assigned ({HIGH_CONFIDENCE} or higher), "
        f"{percent(low)} are between clusters (below {LOW_CONFIDENCE})."
    ]


def _about_novelty(data: ModelData) -> list[str]:
    if data.novelty is None:
        return []
    n_novel, top = np.count_nonzero(data.novelty > NOVEL), int(np.argmax(data.novelty))
    if n_novel == 0:
        return []
    share = percent(n_novel / data.n_samples, 1)
    counted = "1 sample is" if n_novel == 1 else f"{integer(n_novel)} samples ({share}) are"
    return [
        f"Novelty: {counted} above 1, where about 1\u00a0% is expected. The highest is {data.novelty[top]:.3f} "
        f"({data.name_of(top)})."
    ]


def _about_views(data: ModelData, importance: Importance, explanation: Explanation) -> list[str]:
    if len(data.views) < 2:
        return []
    found = []
    weights: Any = getattr(data.model, "view_weights_", None)
    if np.shape(weights) == (len(data.views),):
        top, last = int(np.argmax(weights)), int(np.argmin(weights))
        low, high = f"{weights[last]:.2f}", f"{weights[top]:.2f}"
        if weights[top] - weights[last] < SIMILAR_WEIGHTS:
            found.append(f"View weights: similar ({low if low == high else f'{low} to {high}'}).")
        else:
            found.append(
                f"View weights: highest for {data.views[top].name} ({high}), lowest for "
                f"{data.views[last].name} ({low})."
            )
    if importance.important:
        names, several = shorten(importance.important, 5), len(importance.important) > 1
        without = "Without any one of them" if several else "Without it"
        found.append(f"Important view{'s' * several}: {names}. {without}, {importance.effect}.")
    found += [f"View {name} could be removed: {why}." for name, why in list(importance.removable.items())[:5]]
    if explanation.verdicts is not None and not importance.removable:
        found.append("Removing a view does not improve the clusters: keep all views.")
    return found


def _about_baselines(data: ModelData, baselines: Baselines | None) -> list[str]:
    """Whether a simpler method finds the same clusters."""
    rows = [] if baselines is None else baselines.rows[:-1]  # the last is the model
    same = [row for row in rows if row.scores.get("agreement", 0.0) >= NEARLY_SAME]
    if not same:
        return []
    best = max(same, key=lambda row: row.scores["agreement"])
    named = f"{best.method} (adjusted Rand index {best.scores['agreement']:.2f})"
    n_complete = np.count_nonzero(data.observed.all(axis=1))
    if n_complete < data.n_samples:
        return [
            f"For the {integer(n_complete)} samples without missing views, a simple baseline finds nearly the same "
            f"clusters: {named}. It cannot label the other samples."
        ]
    return [f"A simple baseline finds nearly the same clusters: {named}. Use it if you only need labels."]


def _about_scores(data: ModelData) -> list[str]:
    if data.target is None:
        return []
    scores = clustering_scores(data.target, data.labels)
    shown = ", ".join(f"{SCORES[name]} {value:.3f}" for name, value in scores.items() if name in SCORES)
    return [f"Agreement with the known classes, which were not used for clustering: {shown}."]


def _about_outcome(outcome: Outcome) -> str:
    """In which columns the clusters differ."""
    names, p = [str(name) for name in outcome.tests["column"]], outcome.tests["p_adjusted"]
    found = [name for name, own in zip(names, p, strict=True) if own <= LEVEL]
    if not found:
        listed = shorten(names, 5)
        return f"Outcome: the clusters do not differ significantly in {listed} (adjusted p above {LEVEL:g})."
    counted = f"{len(found)} of {len(names)} column{'s' * (len(names) != 1)} with an adjusted p of at most {LEVEL:g}"
    return f"Outcome: the clusters differ significantly in {shorten(found, 5)} ({counted})."


class Cluster(NamedTuple):
    """One cluster.

    Attributes
    ----------
    name : str
    size : int
    share : float
        Of all samples.
    confidence, membership : float or None
        Medians of its samples.
    traits : list of (str, list of Trait)
        Features by which it differs, by name of the view.
    """

    name: str
    size: int
    share: float
    confidence: float | None
    membership: float | None
    traits: list[tuple[str, list[Trait]]]


def clusters(data: ModelData, traits: Sequence[Sequence[Trait]]) -> list[Cluster]:
    """Sizes, confidence and features of every cluster.

    Parameters
    ----------
    data : ModelData
    traits : sequence of sequence of Trait
        As `cluster_traits` returns them.

    Returns
    -------
    list of Cluster
    """
    found = []
    for position, (name, size, own) in enumerate(zip(data.clusters, data.sizes.tolist(), traits, strict=True)):
        confidence, membership = (
            None if values is None else float(np.median(values[data.labels == position]))
            for values in (data.confidence, data.membership)
        )
        strongest = sorted(own, key=lambda one: -abs(one.effect))[:MOST_TRAITS]
        grouped = groupby((one for one in own if one in strongest), key=lambda one: one.view)
        by_view = [(view, list(group)) for view, group in grouped]
        found.append(Cluster(name, size, size / data.n_samples, confidence, membership, by_view))
    return found


def largest_effect(shown: Sequence[Cluster]) -> float:
    """The largest effect of a feature, to which bars are drawn."""
    effects = [abs(one.effect) for cluster in shown for _, own in cluster.traits for one in own if not one.is_share]
    return max(effects, default=0.0)


class SampleRow(NamedTuple):
    """One sample of a table.

    Attributes
    ----------
    name, cluster : str
    confidence, novelty : float or None
    in_views : list of str
        Its clusters in single views; empty where a view is missing.
    """

    name: str
    cluster: str
    confidence: float | None
    novelty: float | None
    in_views: list[str]


class SamplesToCheck(NamedTuple):
    """Samples with the lowest confidence below 1 and the highest novelty.

    Attributes
    ----------
    views : list of str
        Views whose own clusters are shown.
    uncertain, novel : list of SampleRow
    n_novel : int
        Samples with a novelty above 1.
    """

    views: list[str]
    uncertain: list[SampleRow]
    novel: list[SampleRow]
    n_novel: int


def samples_to_check(data: ModelData) -> SamplesToCheck:
    """Find the samples with the lowest confidence, as far as it is below 1, and the highest novelty above 1.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    SamplesToCheck
    """
    views = [view for view in data.views if view.labels is not None][:MOST_VIEWS]

    def row(sample: Any) -> SampleRow:
        own = [(view, -1 if view.labels is None else view.labels[sample]) for view in views]
        confidence, novelty = (
            None if values is None else float(values[sample]) for values in (data.confidence, data.novelty)
        )
        names = ["" if label < 0 else view.label_names[label] for view, label in own]
        return SampleRow(data.name_of(sample), data.clusters[data.labels[sample]], confidence, novelty, names)

    confidence: Any = data.confidence if len(data.clusters) > 1 else None
    lowest: Any = [] if confidence is None else np.argsort(confidence, kind="stable")[:MOST_SAMPLES]
    uncertain = [one for one in lowest if confidence[one] < SHOWN_AS_ONE]
    novelty = np.zeros(data.n_samples) if data.novelty is None else data.novelty
    n_novel = int(np.count_nonzero(novelty > NOVEL))
    novel = np.argsort(-novelty, kind="stable")[: min(n_novel, MOST_SAMPLES)]
    names = [view.name for view in views]
    return SamplesToCheck(names, [row(one) for one in uncertain], [row(one) for one in novel], n_novel)


class Pattern(NamedTuple):
    """Samples with the same missing views.

    Attributes
    ----------
    observed : tuple of bool
        One entry per view.
    size : int
    confidence : float or None
        Median of these samples.
    """

    observed: tuple[bool, ...]
    size: int
    confidence: float | None


class MissingViews(NamedTuple):
    """The most frequent patterns of missing views, and how many others there are."""

    patterns: list[Pattern]
    n_more: int


def missing_views(data: ModelData) -> MissingViews | None:
    """Count patterns of missing views.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    MissingViews or None
        None for complete data.
    """
    observed = data.observed
    if observed.all():
        return None
    counts = Counter(map(tuple, observed.tolist())).most_common()
    patterns = []
    for pattern, size in counts[:MOST_PATTERNS]:
        own = None if data.confidence is None else data.confidence[(observed == pattern).all(axis=1)]
        patterns.append(Pattern(pattern, size, None if own is None else float(np.median(own))))
    return MissingViews(patterns, len(counts) - len(patterns))
