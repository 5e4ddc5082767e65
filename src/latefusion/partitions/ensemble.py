"""Several similarities of several views, by their leading eigenvectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from latefusion.arrays import row_blocks
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

    def products(self) -> NDArray[np.float64]:
        """BᵀB, summed up in double precision."""
        n_samples, width = len(self.spectra[0].vectors), self.columns[-1].stop
        products = np.zeros((width, width))
        for rows in row_blocks(n_samples, PRODUCT_ROWS):
            block = np.concatenate([one.vectors[rows] for one in self.spectra], axis=1).astype(np.float64, copy=False)
            products += block.T @ block
        return products

    def rows(self, coefficients: NDArray[Any]) -> NDArray[Any]:
        """B times a matrix."""
        return sum(
            one.vectors @ coefficients[own].astype(one.vectors.dtype)
            for one, own in zip(self.spectra, self.columns, strict=True)
        )

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
    edges = np.concatenate([[0], np.cumsum([len(one.values) for one in spectra])])
    columns = [slice(int(start), int(stop)) for start, stop in zip(edges[:-1], edges[1:], strict=True)]
    return Ensemble(list(keys), spectra, columns)
