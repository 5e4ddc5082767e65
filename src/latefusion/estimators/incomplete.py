"""Consensus rows of new samples where some of them, or some of the training samples, lack views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.metrics import subspace_agreement
from latefusion.partitions.completion import Completion, Rescaling
from latefusion.partitions.ensemble import Ensemble
from latefusion.partitions.sources import SharedSource, ViewSource, known_samples
from latefusion.types import Array

Assign = Callable[..., Any]


def observed_agreement(
    partition: NDArray[Any], consensus: NDArray[Any], mask: NDArray[np.bool_] | None, view: int
) -> float:
    """Agreement of a base partition with the consensus, on the samples that have the view.

    Parameters
    ----------
    partition, consensus : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.
    view : int

    Returns
    -------
    float
    """
    if mask is None or mask[:, view].all():
        return subspace_agreement(partition, consensus)
    observed = mask[:, view]
    return subspace_agreement(np.linalg.qr(partition[observed])[0], np.linalg.qr(consensus[observed])[0])


def weigh_confidence(confidence: NDArray[Any], weights: NDArray[Any], mask: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Confidence times the root of the share of the squared view weights that a sample's views have.

    Where a sample lies between clusters does not say how much is known about it.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_views,)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if mask is None:
        return confidence
    weighed: NDArray[Any] = confidence * np.sqrt(mask @ weights**2 / np.sum(weights**2))
    return weighed


def assign_known(assign: Assign, rows: NDArray[Any], mask: NDArray[np.bool_] | None, *args: Any, **options: Any) -> Any:
    """Labels and their rule from the samples that have any view; the others get theirs by the rule.

    Rows of samples of which nothing is known coincide, and would be a cluster of their own, or draw one to themselves.

    Parameters
    ----------
    assign : callable
        From rows to labels and a rule for other rows.
    rows : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.
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


@dataclass(frozen=True)
class IncompleteExtension:
    """From the views that a new sample has to its consensus row.

    Attributes
    ----------
    sources : sequence of ViewSource
    joint : JointSource, SharedSource or None
        All views together, where they take part. With training samples that lack views it is made of what was filled
        in, and every new sample has it; otherwise those have it that have all views.
    ensemble : Ensemble
        Similarities of views, and last those of all views together.
    coefficients : ndarray of shape (n_columns, n_clusters)
        The consensus is B times this.
    missing : {"align", "impute"}
    """

    sources: Sequence[ViewSource]
    joint: Any
    ensemble: Ensemble
    coefficients: NDArray[Any]
    missing: str

    def __call__(self, views: Sequence[Array], mask: NDArray[np.bool_], diagonals: Sequence[Any]) -> NDArray[Any]:
        """Consensus rows, in the float type of the training rows.

        Parameters
        ----------
        views : sequence of arrays
        mask : ndarray of bool of shape (n_new, n_views)
        diagonals : sequence of ndarray of shape (n_new,) or None

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
        """
        return self._rows(views, mask, diagonals).astype(self.ensemble.dtype, copy=False)

    def _rows(self, views: Sequence[Array], mask: NDArray[np.bool_], diagonals: Sequence[Any]) -> NDArray[Any]:
        apart = [self._view_rows(position, views, mask, diagonals) for position in self._of_views(True)]
        basis = np.concatenate(apart, axis=1)
        if isinstance(self.joint, SharedSource):
            basis = self._repair.fill(basis, mask)
            together = self._shared_rows(self.joint, basis, np.asarray(mask.any(axis=1)))
            return np.asarray(np.concatenate([basis, *together], axis=1) @ self.coefficients)
        whole = np.asarray(mask.all(axis=1))
        together = self._joint_rows(views, whole, diagonals)
        if together:
            mask = np.column_stack([mask, whole])
        return np.asarray(self._repair.fill(np.concatenate([basis, *together], axis=1), mask) @ self.coefficients)

    def _of_views(self, single: bool) -> list[int]:
        """Positions of the similarities of single views, or of all views together."""
        return [position for position, key in enumerate(self.ensemble.keys) if (key.view < len(self.sources)) == single]

    def _view_rows(
        self, position: int, views: Sequence[Array], mask: NDArray[np.bool_], diagonals: Sequence[Any]
    ) -> NDArray[Any]:
        """Rows in one spectrum, zero for samples that lack the view."""
        key, spectrum = self.ensemble.keys[position], self.ensemble.spectra[position]
        here, diagonal = mask[:, key.view], diagonals[key.view]
        rows = np.zeros((len(mask), spectrum.projection.shape[1]))
        if here.any():
            rows[here] = self.sources[key.view].extend(
                key.similarity, spectrum, views[key.view][here], None if diagonal is None else diagonal[here]
            )
        return rows

    def _shared_rows(self, joint: SharedSource, basis: NDArray[Any], known: NDArray[np.bool_]) -> list[NDArray[Any]]:
        """Rows in the spectra of what was filled in, zero for samples of which nothing is known."""
        placed = joint.place(basis).astype(joint.coordinates.dtype)
        return [self.ensemble.spectra[position].extend(placed) * known[:, None] for position in self._of_views(False)]

    def _joint_rows(
        self, views: Sequence[Array], whole: NDArray[np.bool_], diagonals: Sequence[Any]
    ) -> list[NDArray[Any]]:
        """Rows in the spectra of all views together, zero for samples that lack any of the views."""
        spectra = [self.ensemble.spectra[position] for position in self._of_views(False)]
        rows = [np.zeros((len(whole), one.projection.shape[1])) for one in spectra]
        if spectra and whole.any():
            complete = [None if one is None else one[whole] for one in diagonals]
            placed = self.joint.place([view[whole] for view in views], complete)
            for own, spectrum in zip(rows, spectra, strict=True):
                own[whole] = spectrum.extend(placed)
        return rows

    @cached_property
    def _repair(self) -> Completion | Rescaling:
        """That of the training samples; learnt from them now where they were complete."""
        if self.ensemble.repair is not None:
            return self.ensemble.repair
        if self.missing == "align":
            return Rescaling()
        return self.ensemble.completion(self.coefficients.shape[1], self.ensemble.keys)
