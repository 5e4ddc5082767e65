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
from latefusion.partitions.imputation import FactorModel, Fill, PatternSums, fit_factor_model, sum_patterns
from latefusion.partitions.sources import ViewSource, count_samples, observed_mask
from latefusion.partitions.spectra import Spectrum, fit_spectrum
from latefusion.similarities.graph import NeighborSearch

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
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Which views samples have; None for all.
    fill : Fill or None
        What was done with the rows of samples that lack views. Applies to the columns of views, which come first.
    """

    keys: list[EnsembleKey]
    spectra: list[Spectrum]
    columns: list[slice]
    mask: NDArray[np.bool_] | None = None
    fill: Fill | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows of B."""
        return len(self.spectra[0].vectors)

    @property
    def dtype(self) -> Any:
        """Float type of B."""
        return np.result_type(*[one.vectors.dtype for one in self.spectra])

    def position(self, key: EnsembleKey) -> int:
        """Which of the spectra belongs to a similarity."""
        return self.keys.index(key)

    @cached_property
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
        return root_of_products(self.products)

    def joined(self, other: Ensemble) -> Ensemble:
        """These and more similarities of the same samples."""
        both = _side_by_side([*self.keys, *other.keys], [*self.spectra, *other.spectra])
        return replace(both, mask=self.mask, fill=self.fill)

    def restricted(self, keys: Sequence[EnsembleKey]) -> Ensemble:
        """Some of the similarities of samples that have all views."""
        positions = [self.position(key) for key in keys]
        found = _side_by_side(list(keys), [self.spectra[position] for position in positions])
        if "products" in vars(self):
            own = np.concatenate(
                [np.arange(self.columns[position].start, self.columns[position].stop) for position in positions]
            )
            vars(found)["products"] = self.products[np.ix_(own, own)]
        return found

    def filled(
        self, missing: str, n_clusters: int, scoring: Sequence[EnsembleKey], n_directions: int | None = None
    ) -> Ensemble:
        """The same with rows for samples that lack views, if there are any.

        Parameters
        ----------
        missing : {"align", "impute"}
            Whether these rows stay zero, or are imputed from the views that the sample has.
        n_clusters : int
        scoring : sequence of EnsembleKey
            Similarities from which rows are imputed.
        n_directions : int, default=None
            Number of components that views share; as many as clusters by default.

        Returns
        -------
        Ensemble
        """
        if self.mask is None:
            return self
        model = None if missing == "align" else self.factor_model(n_clusters, scoring, n_directions)
        fill = Fill(np.full(self.columns[-1].stop, model is None), model)
        basis = fill(self.basis(), self.mask)
        spectra = [
            replace(one, vectors=basis[:, own].astype(one.vectors.dtype))
            for one, own in zip(self.spectra, self.columns, strict=True)
        ]
        return replace(self, spectra=spectra, fill=fill)

    def factor_model(
        self, n_clusters: int, scoring: Sequence[EnsembleKey] | None = None, n_directions: int | None = None
    ) -> FactorModel:
        """The model that imputes the rows of missing views.

        Parameters
        ----------
        n_clusters : int
        scoring : sequence of EnsembleKey, default=None
            Similarities from which rows are imputed; all by default.
        n_directions : int, default=None
            Number of components that views share; as many as clusters by default.

        Returns
        -------
        FactorModel
        """
        widths = [len(one.values) for one in self.spectra]
        owners = np.repeat([key.view for key in self.keys], widths)
        if self.mask is None:
            sums = [PatternSums(np.ones(int(owners.max()) + 1, dtype=bool), self.n_samples, self.products)]
        else:
            sums = sum_patterns(self.basis(), self.mask, owners)
        return fit_factor_model(
            sums,
            owners,
            n_directions or n_clusters,
            scales=np.concatenate([root_values(one.values, n_clusters) for one in self.spectra]),
            scoring=np.repeat([scoring is None or key in scoring for key in self.keys], widths),
        )

    def mix(self, rows: Sequence[NDArray[Any]], mask: NDArray[np.bool_] | None, coefficients: NDArray[Any]) -> Any:
        """Rows of other samples in every spectrum, without gaps, times a matrix.

        Parameters
        ----------
        rows : sequence of ndarray of shape (n_new, n_components)
            Zero where a sample lacks the view.
        mask : ndarray of bool of shape (n_new, n_views) or None
        coefficients : ndarray of shape (n_columns, n_clusters)

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
        """
        if self.fill is None or mask is None:
            return sum(part @ coefficients[own] for part, own in zip(rows, self.columns, strict=True))
        return self.fill(np.concatenate(rows, axis=1), mask) @ coefficients

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
        """Mean squared cosine between the leading subspaces of two spectra; of samples that have both views."""
        one, other = self.spectra[first].vectors[:, :n_clusters], self.spectra[second].vectors[:, :n_clusters]
        rank = max(np.count_nonzero(self.spectra[p].values[:n_clusters]) for p in (first, second))
        if self.mask is not None:
            both = self.mask[:, [self.keys[first].view, self.keys[second].view]].all(axis=1)
            if np.count_nonzero(both) <= rank:  # so few say nothing
                return 0.0
            one, other = _orthonormal(one[both]), _orthonormal(other[both])
        return float(np.sum((one.T @ other) ** 2) / max(rank, 1))


def root_values(values: NDArray[Any], n_clusters: int) -> NDArray[Any]:
    """Roots of eigenvalues whose leading ones have a mean of one; zero where there are none."""
    level = values[:n_clusters].mean()
    roots: NDArray[Any] = np.sqrt(values / level) if level > 0 else np.zeros(len(values))
    return roots


def _orthonormal(vectors: NDArray[Any]) -> NDArray[Any]:
    """Orthonormal columns of the same span, zero where it lacks directions."""
    left, values, _ = np.linalg.svd(vectors, full_matrices=False)
    basis: NDArray[Any] = left * (values > np.sqrt(np.finfo(values.dtype).eps) * max(values, default=0.0))
    return basis


def fit_ensemble(
    sources: Sequence[ViewSource],
    keys: Sequence[EnsembleKey],
    n_components: int,
    n_clusters: int,
    *,
    searches: Sequence[NeighborSearch] | None = None,
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
    searches : sequence of NeighborSearch, default=None
        Of the coordinates of every source, where neighbours are of use elsewhere as well.
    n_jobs : int, default=None
        Similarities worked on at the same time (threads).

    Returns
    -------
    Ensemble
    """
    if searches is None:
        searches = [NeighborSearch(source.coordinates) for source in sources]
    n_known = count_samples(sources)
    spectra = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fit_source)(sources[key.view], key.similarity, n_components, n_clusters, searches[key.view], n_known)
        for key in keys
    )
    ensemble = _settled(_side_by_side(list(keys), spectra), n_clusters)
    return replace(ensemble, mask=observed_mask(sources))


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
    products = ensemble.products
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


def _fit_source(
    source: ViewSource, name: str, n_components: int, n_clusters: int, search: NeighborSearch, n_known: int
) -> Spectrum:
    training, observed = source.training(name), source.observed
    similarity = source.similarities[name]
    if observed is None:
        return fit_spectrum(training, similarity, n_components, n_clusters, search)
    n_components = min(n_components, training.shape[0])
    return fit_spectrum(training, similarity, n_components, n_clusters, search).scattered(observed, n_known)


def _side_by_side(keys: list[EnsembleKey], spectra: list[Spectrum]) -> Ensemble:
    edges = np.concatenate([[0], np.cumsum([len(one.values) for one in spectra])])
    return Ensemble(keys, spectra, [slice(int(start), int(stop)) for start, stop in pairwise(edges)])
