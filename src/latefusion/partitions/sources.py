"""One view, encoded and ready for several similarities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import on_host, take_rows
from latefusion.encoding.column_statistics import column_statistics
from latefusion.encoding.coordinates import Encoding, ImputedCoordinates, SideBySide, Unchanged, put_side_by_side
from latefusion.encoding.preparation import fit_preparation, has_entries
from latefusion.partitions.partitions import Block
from latefusion.partitions.spectra import fit_spectrum, scatter_rows
from latefusion.similarities.extension import Similarity
from latefusion.similarities.kernel import KernelPoints, PrecomputedSimilarity
from latefusion.types import Array


@dataclass(frozen=True)
class Source:
    """One view, or all views together, with the coordinates that its similarities compare.

    Attributes
    ----------
    kind : str
        Kind of values in the view, such as "counts" or "kernel"; "joint" for all views together.
    coordinates : array of shape (n_observed, n_features)
        Points whose Euclidean distances are those of the view, of the samples that have it. They may be on a device.
    similarities : mapping of str to Similarity
        By name.
    encoding : Encoding
        From the given view to coordinates.
    observed : ndarray of bool of shape (n_samples,) or None
        Which samples have the view; None for all.
    kernel : ndarray of shape (n_observed, n_observed) or None
        The precomputed kernel, if the view is one. A `PrecomputedSimilarity` compares its entries, other similarities
        the coordinates.
    """

    kind: str
    coordinates: Array
    similarities: Mapping[str, Similarity]
    encoding: Encoding | SideBySide | ImputedCoordinates
    observed: NDArray[np.bool_] | None = None
    kernel: NDArray[Any] | None = None

    def training(self, name: str) -> Array:
        """The data that the similarity of this name is fitted on."""
        return self.kernel if self._compares_kernel(name) else self.coordinates

    def encoding_of(self, name: str) -> Any:
        """From the given view to the data that the similarity of this name compares."""
        if self._compares_kernel(name):
            assert isinstance(self.encoding, KernelPoints)
            return self.encoding.kernel
        return self.encoding

    def take(self, samples: NDArray[np.intp]) -> Source:
        """The source of some of the samples, in NumPy. Their coordinates do not change."""
        rows = self._positions(samples)
        return replace(
            self,
            coordinates=on_host(take_rows(self.coordinates, rows)),
            observed=None if self.observed is None else self.observed[samples],
            kernel=None if self.kernel is None else self.kernel[np.ix_(rows, rows)],
        )

    def cross(self, block: Block, seen: NDArray[np.intp], unseen: NDArray[np.intp]) -> NDArray[Any]:
        """Rows of some samples in a block that was fitted on others; zero if the view is missing."""
        here = self._positions(unseen)
        if not self._compares_kernel(block.name):
            rows = block.rows(self.coordinates[here])
        else:
            assert self.kernel is not None
            rows = block.rows(self.kernel[np.ix_(here, self._positions(seen))], np.diagonal(self.kernel)[here])
        return rows if self.observed is None else scatter_rows(rows, self.observed[unseen])

    def _compares_kernel(self, name: str) -> bool:
        return self.kernel is not None and isinstance(self.similarities[name], PrecomputedSimilarity)

    def _positions(self, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """Positions among the observed samples of those samples that have the view."""
        if self.observed is None:
            return samples
        return (np.cumsum(self.observed) - 1)[samples[self.observed[samples]]]


def feature_source(
    view: Array, similarities: Mapping[str, Similarity], observed: NDArray[np.bool_] | None = None
) -> Source:
    """The source of a view of features, scaled by their kind of values.

    Parameters
    ----------
    view : array of shape (n_observed, n_features)
    similarities : mapping of str to Similarity
    observed : ndarray of bool of shape (n_samples,), default=None
        Which samples have the view; all by default.

    Returns
    -------
    Source
    """
    preparation = fit_preparation(column_statistics(view))
    return Source(preparation.kind, preparation(view), similarities, preparation, observed)


def kernel_source(
    kernel: NDArray[Any], similarities: Mapping[str, Similarity], observed: NDArray[np.bool_] | None = None
) -> Source:
    """The source of a kernel: K = V Λ Vᵀ is a similarity itself, and V Λ^{1/2} are its coordinates.

    Parameters
    ----------
    kernel : ndarray of shape (n_observed, n_observed)
    similarities : mapping of str to Similarity
        One of them is a `PrecomputedSimilarity`.
    observed : ndarray of bool of shape (n_samples,), default=None
        Which samples have the view; all by default.

    Returns
    -------
    Source
    """
    own = next(one for one in similarities.values() if isinstance(one, PrecomputedSimilarity))
    spectrum = fit_spectrum(kernel, own, kernel.shape[0], 1)
    scales = np.sqrt(spectrum.values).astype(spectrum.vectors.dtype)
    points = KernelPoints(Unchanged(observed), spectrum.extension, spectrum.projection, scales)
    return Source("kernel", spectrum.vectors * scales, similarities, points, observed, kernel)


def joint_source(sources: Sequence[Source], similarities: Mapping[str, Similarity], shares: NDArray[Any]) -> Source:
    """All views side by side, each scaled to the same mean squared distance and multiplied by its share.

    Parameters
    ----------
    sources : sequence of Source
        Of all views, none of which is missing.
    similarities : mapping of str to Similarity
    shares : ndarray of shape (n_views,)

    Returns
    -------
    Source
        Sparse if one view is.
    """
    coordinates, scales = join_coordinates([source.coordinates for source in sources], shares)
    return Source("joint", coordinates, similarities, SideBySide(tuple(one.encoding for one in sources), scales))


def join_coordinates(coordinates: Sequence[Array], shares: NDArray[Any]) -> tuple[Array, NDArray[np.float64]]:
    """All views side by side, each scaled to the same mean squared distance and multiplied by its share.

    Parameters
    ----------
    coordinates : sequence of arrays of shape (n_samples, n_features)
    shares : ndarray of shape (n_views,)

    Returns
    -------
    coordinates : array of shape (n_samples, total n_features)
    scales : ndarray of shape (n_views,)
        Factor of every view; zero if all samples coincide.
    """
    scales = joint_scales(np.array([column_statistics(one).mean_squared_distance for one in coordinates]), shares)
    return put_side_by_side(coordinates, scales), scales


def joint_scales(distances: NDArray[Any], shares: NDArray[Any]) -> NDArray[np.float64]:
    """Factors that scale views to the same mean squared distance times their share; zero if that distance is zero."""
    return np.where(distances > 0, np.sqrt(shares / np.where(distances > 0, distances, 1.0)), 0.0)


def observed_mask(sources: Sequence[Source]) -> NDArray[np.bool_] | None:
    """Which samples have which views, shape (n_samples, n_views); None if no view is missing."""
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


def count_samples(sources: Sequence[Source]) -> int:
    """Number of samples that have any of the views."""
    mask = observed_mask(sources)
    return int(sources[0].coordinates.shape[0] if mask is None else np.count_nonzero(mask.any(axis=1)))


def take_samples(sources: Sequence[Source], samples: NDArray[np.intp]) -> list[Source]:
    """The sources of some of the samples. A view that all of these have is complete."""
    taken = [source.take(samples) for source in sources]
    return [replace(one, observed=None) if one.observed is not None and one.observed.all() else one for one in taken]


def without_view(sources: Sequence[Source], view: int) -> tuple[list[Source], NDArray[np.intp]]:
    """All views but one, of the samples that have any of these.

    Parameters
    ----------
    sources : sequence of Source
    view : int

    Returns
    -------
    rest : list of Source
    kept : ndarray of int of shape (n_kept,)
        The samples that are left, in their order.
    """
    rest = [source for position, source in enumerate(sources) if position != view]
    mask = observed_mask(sources)
    if mask is None:
        return rest, np.arange(count_samples(sources))
    kept = np.flatnonzero(np.delete(mask, view, axis=1).any(axis=1))
    return take_samples(rest, kept), kept


def mask_zero_rows(
    sources: Sequence[Source], mask: NDArray[np.bool_], kinds: Sequence[str]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Treat rows of zeros as missing in views of some kinds that are compared by directions.

    Parameters
    ----------
    sources : sequence of Source
    mask : ndarray of bool of shape (n_samples, n_views)
        Which samples have which views.
    kinds : sequence of str

    Returns
    -------
    mask : ndarray of bool of shape (n_samples, n_views)
        The same without rows of zeros.
    directed : ndarray of bool of shape (n_views,)
        Views in which rows of zeros are missing. A view keeps its rows of zeros if all other rows coincide.
    """
    found, directed = mask.copy(), np.zeros(len(sources), dtype=bool)
    for view, source in enumerate(sources):
        if source.kind in kinds:
            own = has_entries(source.coordinates)
            directed[view] = bool(column_statistics(source.coordinates[own]).deviations.any())
            if directed[view]:
                found[mask[:, view], view] = own
    return found, directed
