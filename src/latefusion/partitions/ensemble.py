"""Several similarities of several views, by their leading eigenvectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from latefusion.arrays import root_of_products, row_blocks
from latefusion.partitions.sources import ViewSource
from latefusion.partitions.spectra import Spectrum, fit_spectrum

# Rows whose inner products are summed up at a time.
PRODUCT_ROWS = 2**14


class EnsembleKey(NamedTuple):
    """Which similarity of which view."""

    view: int
    similarity: str


@dataclass(frozen=True)
class Ensemble:
    """Eigenvectors of all similarities side by side, B = [V_1 | … | V_s].

    Attributes
    ----------
    keys : list of EnsembleKey
    spectra : list of Spectrum
    columns : list of slice
        The columns of every spectrum in B.
    """

    keys: list[EnsembleKey]
    spectra: list[Spectrum]
    columns: list[slice]

    @property
    def n_samples(self) -> int:
        """Number of rows of B."""
        return len(self.spectra[0].vectors)

    def position(self, key: EnsembleKey) -> int:
        """Which of the spectra belongs to a similarity."""
        return self.keys.index(key)

    def products(self) -> NDArray[np.float64]:
        """BᵀB, summed up in double precision."""
        width = self.columns[-1].stop
        products = np.zeros((width, width))
        for rows in row_blocks(self.n_samples, PRODUCT_ROWS):
            block = np.concatenate([one.vectors[rows] for one in self.spectra], axis=1).astype(np.float64, copy=False)
            products += block.T @ block
        return products

    @cached_property
    def root(self) -> NDArray[Any]:
        """A matrix with the inner products of B, in as few rows as there are directions."""
        if self.n_samples <= self.columns[-1].stop:
            return self.basis()
        return root_of_products(self.products())

    def joined(self, other: Ensemble) -> Ensemble:
        """These and more similarities of the same samples."""
        return _side_by_side([*self.keys, *other.keys], [*self.spectra, *other.spectra])

    def basis(self) -> NDArray[np.float64]:
        """B."""
        basis: NDArray[np.float64] = np.concatenate([one.vectors for one in self.spectra], axis=1, dtype=np.float64)
        return basis

    def rows(self, coefficients: NDArray[Any]) -> NDArray[Any]:
        """B times a matrix."""
        parts = [
            one.vectors @ coefficients[own].astype(one.vectors.dtype)
            for one, own in zip(self.spectra, self.columns, strict=True)
        ]
        return np.asarray(sum(parts))

    def agreement(self, first: int, second: int, n_clusters: int) -> float:
        """Mean squared cosine between the leading subspaces of two spectra."""
        one, other = self.spectra[first].vectors[:, :n_clusters], self.spectra[second].vectors[:, :n_clusters]
        rank = max(np.count_nonzero(self.spectra[p].values[:n_clusters]) for p in (first, second))
        return float(np.sum((one.T @ other) ** 2) / max(rank, 1))


def fit_ensemble(
    sources: Sequence[ViewSource],
    keys: Sequence[EnsembleKey],
    n_components: int,
    n_clusters: int,
    *,
    n_jobs: int | None = None,
) -> Ensemble:
    """Spectra of some similarities.

    Parameters
    ----------
    sources : sequence of ViewSource
        One per view.
    keys : sequence of EnsembleKey
    n_components : int
        Eigenvectors of every similarity.
    n_clusters : int
    n_jobs : int, default=None
        Similarities worked on at the same time (threads).

    Returns
    -------
    Ensemble
    """
    spectra = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(fit_spectrum)(
            sources[key.view].training(key.similarity),
            sources[key.view].similarities[key.similarity],
            n_components,
            n_clusters,
        )
        for key in keys
    )
    return _settled(_side_by_side(list(keys), spectra), n_clusters)


def _settled(ensemble: Ensemble, n_clusters: int) -> Ensemble:
    """Put the directions of spectra whose eigenvalues are all equal, as those of labels, into the order of the others.

    They become the eigenvectors of V_pᵀ S V_p with S the sum of all other similarities: those of S_p + ε S for a small
    ε, so that the first ones are what the view has most in common with the others.
    """
    flat = [p for p, one in enumerate(ensemble.spectra) if len(one.values) > 1 and np.ptp(one.values) == 0]
    if not flat or len(ensemble.spectra) == 1:
        return ensemble
    levels = [float(one.values[:n_clusters].mean()) or 1.0 for one in ensemble.spectra]
    scales = np.concatenate([one.values / level for one, level in zip(ensemble.spectra, levels, strict=True)])
    products = ensemble.products()
    spectra = list(ensemble.spectra)
    for p in flat:
        own, others = ensemble.columns[p], scales.copy()
        others[own] = 0.0
        rotation = np.linalg.eigh((products[own] * others) @ products[own].T)[1][:, ::-1]
        rotation = rotation.astype(spectra[p].vectors.dtype)
        spectra[p] = replace(
            spectra[p], vectors=spectra[p].vectors @ rotation, projection=spectra[p].projection @ rotation
        )
    return _side_by_side(ensemble.keys, spectra)


def _side_by_side(keys: list[EnsembleKey], spectra: list[Spectrum]) -> Ensemble:
    edges = np.concatenate([[0], np.cumsum([len(one.values) for one in spectra])])
    return Ensemble(keys, spectra, [slice(int(start), int(stop)) for start, stop in pairwise(edges)])
