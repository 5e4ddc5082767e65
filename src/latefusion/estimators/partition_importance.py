"""The importance of given partitions: how each agrees with the consensus of the others, and what changes without it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

from latefusion.estimators.given_partitions import PartitionLabels, assigned_samples, labels_of_columns
from latefusion.estimators.partition_fusion import FusionOptions, count_groups, fuse_partitions
from latefusion.metrics import adjusted_rand, category_test, match_labels, normalized_mutual_info
from latefusion.progress import report_progress
from latefusion.selection.alternatives import FEW_SAMPLES, FEW_SHARE
from latefusion.similarities.given import GivenMap
from latefusion.summaries import two_digits
from latefusion.types import Views

# Partitions with a larger p-value are unrelated to the others.
LEVEL = 0.01
N_PERMUTATIONS = 999
# If more labels change without one of several partitions, the consensus is that of some of them against others.
DECISIVE_SHARE = 0.2
# Samples that the test uses at most; an association that more are needed for is too weak to matter.
TESTED_SAMPLES = 2000


class PartitionVerdict(NamedTuple):
    """The agreement of a partition with the consensus of the others, and the effect of leaving it out.

    Attributes
    ----------
    view : str
    changed : float
        Share of the samples whose label changes without the partition, after the best matching of clusters. The number
        of clusters stays the same, or is the largest one that the others distinguish.
    n_changed : int
        Number of these samples.
    agreement : float
        Adjusted Rand index of the partition and the consensus of the others, without those that are unrelated; NaN for
        an embedding.
    p_value : float
        Permutation p-value of the hypothesis that the partition is independent of the consensus of the others. If it
        is larger, that of independence of the partition that it agrees with most, times the number of others. NaN for
        an embedding, and if there is one cluster only.
    left_out : int
        Samples that have no other partition; they are excluded from all of the above.
    unrelated : bool
        Whether the partition has no more in common with the others than chance.
    """

    view: str
    changed: float
    n_changed: int
    agreement: float
    p_value: float
    left_out: int = 0
    unrelated: bool = False

    @property
    def advice(self) -> str:
        """What to do with the partition: "remove" if it is unrelated, "optional" if few labels change, or "keep"."""
        if self.unrelated:
            return "remove"
        return "keep" if self.changed > FEW_SHARE and self.n_changed > FEW_SAMPLES else "optional"

    @property
    def effect(self) -> str:
        """What happens without a partition that is to be kept, in words that follow a comma."""
        return f"more than {FEW_SHARE:.0%} of the labels change"

    @property
    def reason(self) -> str:
        """Why a partition could be removed, in words that follow a colon."""
        return "it has no more in common with the others than chance"

    def __str__(self) -> str:
        """The verdict in a sentence."""
        verdict = f"Without {self.view!r}: {self.changed:.0%} of the labels change."
        if not np.isnan(self.agreement):
            verdict += f" Agreement with the consensus of the others: adjusted Rand index {two_digits(self.agreement)}."
        if self.left_out > 0:
            verdict += f" {self.left_out} samples have no other clustering and are excluded."
        if self.unrelated:
            verdict += " It has no more in common with the others than chance. Remove it."
        return verdict


def leave_one_partition_out(
    views: Views, maps: Sequence[GivenMap], options: FusionOptions, labels: NDArray[np.intp]
) -> list[PartitionVerdict]:
    """Leave out one partition at a time, and find the consensus of the others.

    Parameters
    ----------
    views : Views
        The columns of every partition.
    maps : sequence of GivenMap
    options : FusionOptions
        With the number of clusters of the consensus of all.
    labels : ndarray of shape (n_samples,)
        The consensus of all.

    Returns
    -------
    list of PartitionVerdict
        One per partition.
    """
    if len(maps) < 2:
        raise ValueError("There is only one partition, so that none can be left out.")
    assigned, verdicts = assigned_samples(views), []
    partitions = labels_of_columns(views, maps)

    def consensus_of(used: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        kept = np.flatnonzero(assigned[:, used].any(axis=1))
        rest = Views([views.arrays[view] for view in used], [views.names[view] for view in used])[kept]
        return kept, _labels_of(rest, [maps[view] for view in used], options.only(used))

    for position, own in enumerate(partitions):
        report_progress(f"without {own.name}", position / len(maps))
        others = [view for view in range(len(maps)) if view != position]
        kept, found = consensus_of(others)
        pair = _common(own, kept, found)
        p_value = np.nan if pair is None else _independence(*pair, N_PERMUTATIONS)
        if p_value > LEVEL:
            p_value = min(p_value, _nearest_association(own, [partitions[view] for view in others]))
        n_changed = np.count_nonzero(match_labels(labels[kept], found) != labels[kept])
        verdicts.append(
            PartitionVerdict(
                own.name,
                float(n_changed / len(kept)),
                int(n_changed),
                _agreement(own, kept, found),
                p_value,
                len(labels) - len(kept),
            )
        )
    verdicts = [one._replace(unrelated=bool(one.p_value > LEVEL)) for one in verdicts]
    related = [position for position, one in enumerate(verdicts) if not one.unrelated]
    if not related:
        warnings.warn(
            "No clustering has more in common with the others than chance. Their consensus has no meaning.",
            stacklevel=3,
        )
        return verdicts
    if 1 < len(related) < len(maps):  # the consensus of one partition and noise says little about a third one
        for position in related:
            kept, found = consensus_of([view for view in related if view != position])
            agreement = _agreement(partitions[position], kept, found)
            verdicts[position] = verdicts[position]._replace(agreement=agreement)
    decisive = [one for one in verdicts if one.changed > DECISIVE_SHARE]
    if len(maps) > 2 and decisive:
        more = f", and {len(decisive) - 1} others have a similar effect" if len(decisive) > 1 else ""
        warnings.warn(
            f"The consensus depends on single clusterings: without {decisive[0].view!r}, {decisive[0].changed:.0%} of "
            f"the labels change{more}. Some of the clusterings contradict each other.",
            stacklevel=3,
        )
    return verdicts


def _labels_of(views: Views, maps: Sequence[GivenMap], options: FusionOptions) -> NDArray[np.intp]:
    """The consensus of some partitions, with fewer clusters if they do not distinguish so many."""
    n_groups = count_groups(hstack(views.arrays, format="csr"), maps)
    assert options.numbers is not None
    return fuse_partitions(views, maps, replace(options, numbers=(min(*options.numbers, n_groups),))).labels


def _common(
    own: PartitionLabels, kept: NDArray[np.intp], found: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """A partition and labels of some samples, where both are known; None for fewer than two samples."""
    codes = None if own.labels is None else own.labels[kept]
    if codes is None or np.count_nonzero(codes >= 0) < 2:
        return None
    return codes[codes >= 0], found[codes >= 0]


def _agreement(own: PartitionLabels, kept: NDArray[np.intp], found: NDArray[np.intp]) -> float:
    """Adjusted Rand index of a partition and labels of some samples."""
    pair = _common(own, kept, found)
    return np.nan if pair is None else adjusted_rand(*pair)


def _nearest_association(own: PartitionLabels, others: Sequence[PartitionLabels]) -> float:
    """p-value of independence of the partition that agrees most with one, times the number of others."""
    pairs = []
    for other in others:
        if own.labels is not None and other.labels is not None:
            both = own.assigned & other.assigned
            if np.count_nonzero(both) > 1:
                pairs.append((own.labels[both], other.labels[both]))
    if not pairs:
        return 1.0
    best = max(pairs, key=lambda pair: adjusted_rand(*pair))
    # Enough permutations for a p-value below the level after the multiplication.
    p_value = _independence(*best, max(N_PERMUTATIONS, int(2 * len(pairs) / LEVEL)))
    return 1.0 if np.isnan(p_value) else min(1.0, len(pairs) * p_value)


def _independence(first: NDArray[np.intp], second: NDArray[np.intp], n_permutations: int) -> float:
    """Permutation p-value of the hypothesis that two labelings are independent."""
    if len(first) > TESTED_SAMPLES:
        drawn = np.sort(np.random.default_rng(0).choice(len(first), TESTED_SAMPLES, replace=False))
        first, second = first[drawn], second[drawn]
    return float(category_test(first, second, n_permutations=n_permutations).p_value)


def scores_of_partitions(
    partitions: Sequence[PartitionLabels], labels: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Agreement of partitions with labels, on the samples that are assigned in them.

    Parameters
    ----------
    partitions : sequence of PartitionLabels
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    adjusted_rand, normalized_mutual_info : ndarray of shape (n_partitions,)
        NaN for embeddings.
    """
    scores = np.full((2, len(partitions)), np.nan)
    for position, one in enumerate(partitions):
        if one.labels is not None:
            pair = one.labels[one.assigned], labels[one.assigned]
            scores[:, position] = adjusted_rand(*pair), normalized_mutual_info(*pair)
    return scores[0], scores[1]
