"""What the similarities of one view work on: scaled features, or a kernel and the coordinates that it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.coordinates import (
    Encoding,
    ImputedCoordinates,
    SideBySide,
    Unchanged,
    put_side_by_side,
)
from latefusion.encoding.preparation import DIRECTED, Preparation, column_spreads, fit_preparation, has_entries
from latefusion.partitions.spectra import Spectrum, fit_spectrum
from latefusion.similarities.extension import Similarity
from latefusion.similarities.given import GivenMap
from latefusion.similarities.kernel import KernelPoints, PrecomputedPartition
from latefusion.types import Array


class ViewSource(Protocol):
    """One view, ready for several similarities."""

    @property
    def kind(self) -> str:
        """What the view holds."""
        ...

    @property
    def coordinates(self) -> Array:
        """Points whose Euclidean distances are those of the view, shape (n_samples, n_features).

        Only those of the samples that have the view.
        """
        ...

    @property
    def observed(self) -> NDArray[np.bool_] | None:
        """Which samples have the view; None for all."""
        ...

    @property
    def similarities(self) -> Mapping[str, Similarity]:
        """The similarities by name."""
        ...

    def training(self, name: str) -> Array:
        """What the similarity of that name is fitted on."""
        ...

    def encoding(self, name: str | None = None) -> Encoding:
        """From new samples to what the similarity of that name compares; by default to coordinates."""
        ...

    def take(self, samples: NDArray[np.intp]) -> ViewSource:
        """The source of some of the samples; their coordinates stay what they are."""
        ...

    def cross(self, name: str, spectrum: Spectrum, seen: NDArray[np.intp], unseen: NDArray[np.intp]) -> NDArray[Any]:
        """Rows of some samples in a spectrum that was fitted on others."""
        ...


@dataclass(frozen=True)
class FeatureSource:
    """A view of features, scaled by what they are.

    Attributes
    ----------
    preparation : Preparation or GivenMap
    coordinates : array of shape (n_samples, n_features)
    similarities : mapping of str to Similarity
    """

    preparation: Preparation | GivenMap
    coordinates: Array
    similarities: Mapping[str, Similarity]
    observed: None = None

    @classmethod
    def of(cls, view: Array, similarities: Mapping[str, Similarity]) -> FeatureSource:
        """The source of a training view."""
        preparation = fit_preparation(view)
        return cls(preparation, preparation(view), similarities)

    @property
    def kind(self) -> str:
        """What the view holds."""
        return self.preparation.kind

    def training(self, name: str) -> Array:
        """The scaled features."""
        return self.coordinates

    def encoding(self, name: str | None = None) -> Preparation | GivenMap:
        """How new samples are scaled."""
        return self.preparation

    def take(self, samples: NDArray[np.intp]) -> FeatureSource:
        """The source of some of the samples, scaled as all are."""
        return replace(self, coordinates=self.coordinates[samples])

    def cross(self, name: str, spectrum: Spectrum, seen: NDArray[np.intp], unseen: NDArray[np.intp]) -> NDArray[Any]:
        """Rows of some samples in a spectrum that was fitted on others."""
        return spectrum.extend(self.coordinates[unseen])


@dataclass(frozen=True)
class KernelSource:
    """A view that is a kernel: K = V Λ Vᵀ is the similarity itself, and V Λ^{1/2} are the points it stands for.

    Attributes
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
    coordinates : ndarray of shape (n_samples, n_components)
        Points whose inner products are the standardised kernel.
    spectrum : Spectrum
        All eigenpairs of the standardised kernel of all training samples.
    similarities : mapping of str to Similarity
        Those of `PrecomputedPartition` work on the kernel, others on the coordinates.
    """

    kernel: NDArray[Any]
    coordinates: NDArray[Any]
    spectrum: Spectrum
    similarities: Mapping[str, Similarity]
    kind: str = "kernel"
    observed: None = None

    @classmethod
    def of(cls, kernel: NDArray[Any], similarities: Mapping[str, Similarity]) -> KernelSource:
        """The source of a training kernel."""
        own = next(one for one in similarities.values() if isinstance(one, PrecomputedPartition))
        spectrum = fit_spectrum(kernel, own, kernel.shape[0], 1)
        return cls(kernel, _points(spectrum.vectors, spectrum), spectrum, similarities)

    def training(self, name: str) -> NDArray[Any]:
        """The kernel, or its coordinates."""
        return self.kernel if self._is_kernel(name) else self.coordinates

    def encoding(self, name: str | None = None, columns: NDArray[np.bool_] | None = None) -> Unchanged | KernelPoints:
        """The kernel of new samples with training samples, or the points that they stand for.

        ``columns`` are the training samples that have the view, where some lack it.
        """
        kernel, own = Unchanged(columns), self.spectrum
        if name is not None and self._is_kernel(name):
            return kernel
        return KernelPoints(kernel, own.extension, own.projection, np.sqrt(own.values).astype(own.vectors.dtype))

    def take(self, samples: NDArray[np.intp]) -> KernelSource:
        """The source of some of the samples."""
        return replace(self, kernel=self.kernel[np.ix_(samples, samples)], coordinates=self.coordinates[samples])

    def cross(self, name: str, spectrum: Spectrum, seen: NDArray[np.intp], unseen: NDArray[np.intp]) -> NDArray[Any]:
        """Rows of some samples in a spectrum that was fitted on others."""
        if not self._is_kernel(name):
            return spectrum.extend(self.coordinates[unseen])
        return spectrum.extend(self.kernel[np.ix_(unseen, seen)], np.diagonal(self.kernel)[unseen])

    def _is_kernel(self, name: str) -> bool:
        return isinstance(self.similarities[name], PrecomputedPartition)


def _points(rows: NDArray[Any], spectrum: Spectrum) -> NDArray[Any]:
    """V Λ^{1/2}."""
    points: NDArray[Any] = rows * np.sqrt(spectrum.values).astype(rows.dtype)
    return points


@dataclass(frozen=True)
class PartialSource:
    """A view that some samples lack: the source of those that have it.

    Attributes
    ----------
    source : ViewSource
    observed : ndarray of bool of shape (n_samples,)
    """

    source: ViewSource
    observed: NDArray[np.bool_]

    @property
    def kind(self) -> str:
        """What the view holds."""
        return self.source.kind

    @property
    def coordinates(self) -> Array:
        """Those of the observed samples."""
        return self.source.coordinates

    @property
    def similarities(self) -> Mapping[str, Similarity]:
        """The similarities by name."""
        return self.source.similarities

    def training(self, name: str) -> Array:
        """What the similarity of that name is fitted on: observed samples only."""
        return self.source.training(name)

    def encoding(self, name: str | None = None) -> Encoding:
        """That of the samples that have the view."""
        if isinstance(self.source, KernelSource):
            return self.source.encoding(name, self.observed)
        return self.source.encoding(name)

    def take(self, samples: NDArray[np.intp]) -> PartialSource:
        """The source of some of the samples."""
        return PartialSource(self.source.take(self._positions(samples)), self.observed[samples])

    def cross(self, name: str, spectrum: Spectrum, seen: NDArray[np.intp], unseen: NDArray[np.intp]) -> NDArray[Any]:
        """Rows of some samples in a spectrum that was fitted on others; zero for those that lack the view."""
        rows = np.zeros((len(unseen), spectrum.projection.shape[1]), dtype=spectrum.vectors.dtype)
        here = self.observed[unseen]
        if here.any():
            rows[here] = self.source.cross(name, spectrum, self._positions(seen), self._positions(unseen))
        return rows

    def _positions(self, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where those of the samples that have the view stand among all that have it."""
        return (np.cumsum(self.observed) - 1)[samples[self.observed[samples]]]


def observed_mask(sources: Sequence[ViewSource]) -> NDArray[np.bool_] | None:
    """Where samples have views, shape (n_samples, n_views); None if nobody lacks any."""
    known = [source.observed for source in sources]
    n_samples = next((len(one) for one in known if one is not None), None)
    if n_samples is None:
        return None
    return np.stack([np.ones(n_samples, dtype=bool) if one is None else one for one in known], axis=1)


def known_samples(mask: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Which samples have any view; None if all do."""
    if mask is None:
        return None
    known: NDArray[np.bool_] = np.asarray(mask.any(axis=1))
    return None if known.all() else known


def mask_zero_rows(
    sources: Sequence[ViewSource], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Take rows of zeros as missing in views that are compared by directions.

    Parameters
    ----------
    sources : sequence of ViewSource
    mask : ndarray of bool of shape (n_samples, n_views)
        Which samples have which views.

    Returns
    -------
    mask : ndarray of bool of shape (n_samples, n_views)
        The same without rows of zeros.
    directed : ndarray of bool of shape (n_views,)
        Views in which rows of zeros are missing. Views of which too little would be left keep them: all other rows
        coincide.
    """
    heard, directed = mask.copy(), np.zeros(len(sources), dtype=bool)
    for view, source in enumerate(sources):
        if source.kind in DIRECTED:
            own = has_entries(source.coordinates)
            directed[view] = bool(column_spreads(source.coordinates[own])[0].any())
            if directed[view]:
                heard[mask[:, view], view] = own
    return heard, directed


def without_view(sources: Sequence[ViewSource], view: int) -> tuple[list[ViewSource], NDArray[np.intp]]:
    """All views but one, of the samples that have any of these.

    Parameters
    ----------
    sources : sequence of ViewSource
    view : int

    Returns
    -------
    rest : list of ViewSource
    kept : ndarray of int of shape (n_kept,)
        The samples that are left, in their order.
    """
    rest = [source for position, source in enumerate(sources) if position != view]
    mask = observed_mask(sources)
    if mask is None:
        return rest, np.arange(count_samples(sources))
    kept = np.flatnonzero(np.delete(mask, view, axis=1).any(axis=1))
    return take_samples(rest, kept), kept


def take_samples(sources: Sequence[ViewSource], samples: NDArray[np.intp]) -> list[ViewSource]:
    """The sources of some of the samples; what all of these have is no longer partial."""
    taken = [source.take(samples) for source in sources]
    return [one.source if isinstance(one, PartialSource) and one.observed.all() else one for one in taken]


def count_samples(sources: Sequence[ViewSource]) -> int:
    """Number of samples that have any of the views."""
    mask = observed_mask(sources)
    return int(sources[0].coordinates.shape[0] if mask is None else np.count_nonzero(mask.any(axis=1)))


@dataclass(frozen=True)
class SharedSource:
    """All views together where samples lack some: eigenvectors of every view side by side, with rows filled in.

    Attributes
    ----------
    columns : ndarray of int
        Of the eigenvectors of all similarities, those that are coordinates.
    scales : ndarray of shape (n_coordinates,)
        Factor of each: the root of its eigenvalue, so that inner products are those of the similarity.
    coordinates : ndarray of shape (n_samples, n_coordinates)
        Only those of samples that have any view.
    similarities : mapping of str to Similarity
    observed : ndarray of bool of shape (n_samples,) or None
        Which samples have any view; None for all.
    """

    columns: NDArray[np.intp]
    scales: NDArray[Any]
    coordinates: NDArray[Any]
    similarities: Mapping[str, Similarity]
    kind: str = "joint"
    observed: NDArray[np.bool_] | None = None

    def training(self, name: str) -> NDArray[Any]:
        """The coordinates in all views."""
        return self.coordinates

    def encoding(self, name: str | None = None) -> ImputedCoordinates:
        """Coordinates of new samples from their rows in all eigenvectors."""
        return ImputedCoordinates(self.columns, self.scales, self.coordinates.dtype)


@dataclass(frozen=True)
class JointSource:
    """All views side by side, each brought to the same mean squared distance and counted by its share.

    Attributes
    ----------
    sources : sequence of ViewSource
    scales : ndarray of shape (n_views,)
        Factor of every view.
    coordinates : array of shape (n_samples, total n_features)
        Sparse as soon as one view is.
    similarities : mapping of str to Similarity
    """

    sources: Sequence[ViewSource]
    scales: NDArray[np.float64]
    coordinates: Array
    similarities: Mapping[str, Similarity]
    kind: str = "joint"
    observed: None = None

    @classmethod
    def of(
        cls, sources: Sequence[ViewSource], similarities: Mapping[str, Similarity], shares: NDArray[Any]
    ) -> JointSource:
        """The source of all training views."""
        coordinates, scales = join_coordinates([source.coordinates for source in sources], shares)
        return cls(sources, scales, coordinates, similarities)

    def training(self, name: str) -> Array:
        """The coordinates in all views."""
        return self.coordinates

    def encoding(self, name: str | None = None) -> SideBySide:
        """Coordinates of new samples in all views."""
        return SideBySide(tuple(source.encoding() for source in self.sources), self.scales)


def join_coordinates(coordinates: Sequence[Array], shares: NDArray[Any]) -> tuple[Array, NDArray[np.float64]]:
    """All views side by side, each brought to the same mean squared distance and counted by its share.

    Parameters
    ----------
    coordinates : sequence of arrays of shape (n_samples, n_features)
    shares : ndarray of shape (n_views,)

    Returns
    -------
    coordinates : array of shape (n_samples, total n_features)
    scales : ndarray of shape (n_views,)
        Factor of every view; zero where all samples coincide.
    """
    spreads = np.array([_mean_squared_distance(one) for one in coordinates])
    scales = np.where(spreads > 0, np.sqrt(shares / np.where(spreads > 0, spreads, 1.0)), 0.0)
    return put_side_by_side(coordinates, scales), scales


def _mean_squared_distance(coordinates: Array) -> float:
    """Of two samples drawn at random: twice the sum of the columns' variances."""
    spreads, _ = column_spreads(coordinates)
    return float(2 * np.sum(spreads**2))
