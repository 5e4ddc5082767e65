"""Clusterings with other numbers of clusters, by the choices of a fitted model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from latefusion.partitions.sources import Source, observed_mask
from latefusion.progress import report_progress
from latefusion.selection.candidates import CandidateSpace
from latefusion.selection.label_assignment import assign_selected
from latefusion.selection.number_path import NumberPath, trace_clusters
from latefusion.selection.options import Selected
from latefusion.selection.search import fit_criterion, fuse_selected
from latefusion.selection.spaces import fit_spaces, fit_views, shared_components

# By default, the path ends this many clusters after the number of the model.
MORE_CLUSTERS = 2


def number_path(selected: Selected, labels: NDArray[np.intp], numbers: Sequence[int] | None = None) -> NumberPath:
    """Cluster the training samples with several numbers of clusters.

    Parameters
    ----------
    selected : Selected
        Training data and choices of a model.
    labels : ndarray of shape (n_samples,)
        Those of the model.
    numbers : sequence of int, default=None
        Numbers of clusters, to which that of the model is added; by default from two to two more than the model has.

    Returns
    -------
    NumberPath
    """
    own = selected.candidate.n_clusters
    fewest = min(one.coordinates.shape[0] for one in _searched(selected))
    if numbers is None:
        numbers = range(2, min(own + MORE_CLUSTERS, fewest) + 1)
    if max(numbers, default=0) > fewest:
        raise ValueError(
            f"The path needs as many samples in every view as clusters, but {max(numbers)} clusters were given and one "
            f"view has {fewest} samples that are compared. Give numbers up to {fewest}."
        )
    others = [number for number in numbers if number != own]
    found = {own: labels}
    if others:
        partitions = ViewPartitions.fit(selected, max(others))
        for position, number in enumerate(others):
            report_progress(f"{number} clusters", (1 + position) / (1 + len(others)))
            found[number] = partitions.labels(number)
    path = sorted(found)
    return trace_clusters(path, [found[number] for number in path], own)


@dataclass(frozen=True)
class ViewPartitions:
    """Partitions of the single views of a fitted model, which clusterings with several numbers of clusters share.

    Attributes
    ----------
    selected : Selected
    searched : CandidateSpace
        Partitions of the samples that the search used, for all similarities.
    whole : CandidateSpace or None
        Partitions of all samples, for the chosen similarities; None if the search used all samples.
    """

    selected: Selected
    searched: CandidateSpace
    whole: CandidateSpace | None

    @classmethod
    def fit(cls, selected: Selected, greatest: int) -> ViewPartitions:
        """Partitions for at most so many clusters."""
        report_progress("similarities", 0.0)
        searched = fit_views(_searched(selected), greatest, selected.options)
        whole = None
        if selected.samples is not None:
            whole = fit_views(selected.sources, greatest, selected.options, selected.candidate)
        return cls(selected, searched, whole)

    def labels(self, n_clusters: int) -> NDArray[np.intp]:
        """Labels by the similarities, the weighting, the λ and the imputation of the model.

        The label assignment is chosen again. From partitions for the number of the model, and for this number, these
        are the labels of the model.

        Parameters
        ----------
        n_clusters : int

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        chosen, options = self.selected.candidate, self.selected.options
        n_shared = chosen.n_shared_components
        if n_shared is not None:  # the same number per cluster
            n_shared = shared_components(n_clusters)[shared_components(chosen.n_clusters).index(n_shared)]
        spaces = fit_spaces(self.searched.sources, n_clusters, options, fitted=self.searched)
        with warnings.catch_warnings():  # as in the search
            warnings.simplefilter("ignore", ConvergenceWarning)
            criterion = fit_criterion(list(spaces.values()), options)
        space = spaces[n_shared]
        own = replace(
            self.selected,
            candidate=chosen._replace(n_clusters=n_clusters, n_shared_components=n_shared),
            criterion=criterion,
            plan=space.plan(chosen.similarity, chosen.weighting),
            shares=space.shares,
        )
        space, fused = fuse_selected(own, space, self.whole)
        consensus = space.partitions.times(fused.coefficients)
        return assign_selected(own, consensus, observed_mask(self.selected.sources))[0]


def _searched(selected: Selected) -> Sequence[Source]:
    """The sources of the samples that the search used."""
    if selected.samples is None:
        return selected.sources
    return [one.take(selected.samples) for one in selected.sources]
