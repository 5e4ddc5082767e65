"""What the similarities of one view work on: scaled features, or a kernel and the coordinates that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latefusion.partitions.base_partitions import Similarity
from latefusion.partitions.kernel import PrecomputedPartition
from latefusion.partitions.preparation import Preparation, fit_preparation
from latefusion.partitions.spectra import Spectrum, fit_spectrum
from latefusion.types import Array


class ViewSource(Protocol):
    """One view, ready for several similarities.

    Attributes
    ----------
    kind : str
        What the view holds.
    coordinates : array of shape (n_samples, n_features)
        Points whose Euclidean distances are those of the view.
    similarities : mapping of str to Similarity
    """

    kind: str
    coordinates: Array
    similarities: Mapping[str, Similarity]

    def training(self, name: str) -> Array:
        """What the similarity of that name is fitted on."""
        ...

    def extend(self, name: str, spectrum: Spectrum, view: Array, diagonal: NDArray[Any] | None) -> NDArray[Any]:
        """Rows of new samples in the spectrum of the similarity of that name."""
        ...

    def take(self, samples: NDArray[np.intp]) -> ViewSource:
        """The source of some of the samples."""
        ...


@dataclass(frozen=True)
class FeatureSource:
    """A view of features, scaled by what they are.

    Attributes
    ----------
    preparation : Preparation
    coordinates : array of shape (n_samples, n_features)
    similarities : mapping of str to Similarity
    """

    preparation: Preparation
    coordinates: Array
    similarities: Mapping[str, Similarity]

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

    def extend(self, name: str, spectrum: Spectrum, view: Array, diagonal: NDArray[Any] | None) -> NDArray[Any]:
        """Rows of new samples."""
        return spectrum.extend(self.preparation(view))

    def take(self, samples: NDArray[np.intp]) -> FeatureSource:
        """The source of some of the samples, scaled as all are."""
        return replace(self, coordinates=self.coordinates[samples])


@dataclass(frozen=True)
class KernelSource:
    """A view that is a kernel: K = V Λ Vᵀ is the similarity itself, and V Λ^{1/2} are the points it stands for.

    Attributes
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
    spectrum : Spectrum
        All eigenpairs of the standardised kernel.
    similarities : mapping of str to Similarity
        Those of `PrecomputedPartition` work on the kernel, others on the coordinates.
    """

    kernel: NDArray[Any]
    spectrum: Spectrum
    similarities: Mapping[str, Similarity]
    kind: str = "kernel"

    @classmethod
    def of(cls, kernel: NDArray[Any], similarities: Mapping[str, Similarity]) -> KernelSource:
        """The source of a training kernel."""
        own = next(one for one in similarities.values() if isinstance(one, PrecomputedPartition))
        return cls(kernel, fit_spectrum(kernel, own, kernel.shape[0], 1), similarities)

    @property
    def coordinates(self) -> NDArray[Any]:
        """Points whose inner products are the standardised kernel."""
        return self.spectrum.vectors * np.sqrt(self.spectrum.values).astype(self.spectrum.vectors.dtype)

    def training(self, name: str) -> NDArray[Any]:
        """The kernel, or its coordinates."""
        return self.kernel if self._is_kernel(name) else self.coordinates

    def extend(self, name: str, spectrum: Spectrum, view: Array, diagonal: NDArray[Any] | None) -> NDArray[Any]:
        """Rows of new samples, given by their kernel with the training samples."""
        if self._is_kernel(name):
            return spectrum.extend(view, diagonal)
        rows = self.spectrum.extend(view, diagonal)
        return spectrum.extend(rows * np.sqrt(self.spectrum.values).astype(rows.dtype))

    def take(self, samples: NDArray[np.intp]) -> KernelSource:
        """The source of some of the samples."""
        return self.of(self.kernel[np.ix_(samples, samples)], self.similarities)

    def _is_kernel(self, name: str) -> bool:
        return isinstance(self.similarities[name], PrecomputedPartition)
