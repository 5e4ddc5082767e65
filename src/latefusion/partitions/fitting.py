"""Partitions of several similarities per view, with several eigenvectors per cluster; missing rows zero or imputed.

With V_p the eigenvectors of the n_p samples that have view p, and E_p the matrix that puts their rows among all n, the
partition is (n_p / n)^{1/2} E_p V_p. Its other rows stay zero or are imputed, see `latefusion.partitions.imputation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from latefusion.arrays import orthonormal_columns, to_numpy, top_eigenpairs
from latefusion.partitions.imputation import FactorModel, Fill, PatternSums, fit_factor_model, sum_patterns
from latefusion.partitions.partitions import Block, Mean, PartitionKey, Partitions
from latefusion.partitions.sources import Source, count_samples, observed_mask
from latefusion.partitions.spectra import Spectrum, fit_spectrum, inverse_values
from latefusion.similarities.graph import GraphSimilarity, NeighborSearch


def fit_partitions(
    sources: Sequence[Source],
    keys: Sequence[PartitionKey],
    n_components: int,
    n_clusters: int,
    *,
    searches: Sequence[NeighborSearch] | None = None,
    known: Partitions | None = None,
    n_jobs: int | None = None,
) -> Partitions:
    """Leading eigenvectors of some similarities; rows of missing views are zero.

    Parameters
    ----------
    sources : sequence of Source
        One per view.
    keys : sequence of PartitionKey
    n_components : int
        Eigenvectors of every similarity.
    n_clusters : int
    searches : sequence of NeighborSearch, default=None
        Of the coordinates of every source, if neighbors have been searched already.
    known : Partitions, default=None
        Partitions of some of the keys, of the same samples, which are not computed again. No view is missing.
    n_jobs : int, default=None
        Number of similarities that are processed at the same time (threads).

    Returns
    -------
    Partitions
    """
    if searches is None:
        searches = [NeighborSearch(source.coordinates) for source in sources]
    n_known = count_samples(sources)
    found = {} if known is None else {key: _spectrum(known, key) for key in keys if key in known.keys}
    same = {key: _identity(sources[key.view], key) for key in keys if key not in found}
    others = {identity: key for key, identity in reversed(same.items())}  # the first of equal similarities
    fitted = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fit_source)(sources[key.view], key.name, n_components, n_clusters, searches[key.view], n_known)
        for key in others.values()
    )
    spectrum_of = dict(zip(others, fitted, strict=True))
    found |= {key: spectrum_of[identity] for key, identity in same.items()}
    spectra = _order_flat_spectra([found[key] for key in keys], n_clusters)
    blocks = [
        Block(key.view, key.name, sources[key.view].encoding_of(key.name), one.extension, one.projection)
        for key, one in zip(keys, spectra, strict=True)
    ]
    return Partitions(
        tuple(blocks),
        tuple(one.vectors for one in spectra),
        tuple(one.values for one in spectra),
        mask=observed_mask(sources),
    )


def _spectrum(partitions: Partitions, key: PartitionKey) -> Spectrum:
    """The eigenpairs of one block."""
    position = partitions.position(key)
    block = partitions.blocks[position]
    return Spectrum(partitions.values[position], partitions.vectors[position], block.extension, block.projection)


def _identity(source: Source, key: PartitionKey) -> tuple[Any, ...]:
    """What is equal for equal similarities of a view: graphs with anchors do not depend on the number of neighbors."""
    similarity = source.similarities[key.name]
    if not isinstance(similarity, GraphSimilarity) or not similarity.uses_anchors(source.coordinates.shape[0]):
        return key
    parameters = {name: value for name, value in similarity.get_params().items() if name != "n_neighbors"}
    return key.view, repr(parameters)


def _fit_source(
    source: Source, name: str, n_components: int, n_clusters: int, search: NeighborSearch, n_known: int
) -> Spectrum:
    training = source.training(name)
    n_components = min(n_components, training.shape[0])
    spectrum = fit_spectrum(training, source.similarities[name], n_components, n_clusters, search)
    return spectrum if source.observed is None else spectrum.scattered(source.observed, n_known)


def _order_flat_spectra(spectra: Sequence[Spectrum], n_clusters: int) -> list[Spectrum]:
    """Order the directions of spectra whose eigenvalues are all equal, as those of labels.

    They become the eigenvectors of V_pᵀ S V_p with S the sum of all other similarities: those of S_p + ε S for a small
    ε, so that the first ones have the largest agreement with the other views.
    """
    flat = [p for p, one in enumerate(spectra) if len(one.values) > 1 and np.ptp(one.values) == 0]
    found = list(spectra)
    if not flat or len(spectra) == 1:
        return found
    everything = Partitions((), tuple(one.vectors for one in spectra), tuple(one.values for one in spectra))
    levels = [float(one.values[:n_clusters].mean()) or 1.0 for one in spectra]
    scales = np.concatenate([one.values / level for one, level in zip(spectra, levels, strict=True)])
    products = everything.products
    for p in flat:
        own, others = everything.columns[p], scales.copy()
        others[own] = 0.0
        rotation = np.linalg.eigh((products[own] * others) @ products[own].T)[1][:, ::-1]
        rotation = rotation.astype(found[p].vectors.dtype)
        found[p] = replace(found[p], vectors=found[p].vectors @ rotation, projection=found[p].projection @ rotation)
    return found


def impute_partitions(partitions: Partitions) -> Partitions:
    """Impute missing rows of base partitions, those of training samples and those of new samples.

    Parameters
    ----------
    partitions : Partitions
        With zeros for missing views of training samples; then M is not needed.

    Returns
    -------
    Partitions
        If training samples have missing views, M consists of the leading directions of all imputed H_p together.
    """
    rows, n_views = np.concatenate(partitions.vectors, axis=1), len(partitions.blocks)
    mask, n_clusters = partitions.mask, rows.shape[1] // n_views
    owners = np.repeat(np.arange(n_views), n_clusters)
    everything = np.ones((len(rows), n_views), dtype=bool)
    model = fit_factor_model(sum_patterns(rows, everything if mask is None else mask, owners), owners, n_clusters)
    if mask is None:
        assert partitions.mean is not None
        assert partitions.fill is not None
        of_mean = np.repeat([block.view for block in partitions.mean.blocks], n_clusters)
        model = model.joined(of_mean, np.zeros((len(of_mean), n_clusters)))
        return replace(partitions, fill=replace(partitions.fill, model=model))
    rows = model.impute(rows, mask)
    exact = rows.astype(np.float64)
    values, vectors = top_eigenpairs(exact.T @ exact, n_clusters)
    mixing = vectors * np.sqrt(inverse_values(values, partitions.dtype))
    average = (rows @ mixing).astype(partitions.dtype)
    return replace(
        partitions,
        vectors=tuple(np.split(rows, n_views, axis=1)),
        mean=Mean(average, partitions.blocks, mixing),
        fill=Fill(np.zeros(2 * len(owners), dtype=bool), model.joined(owners, model.loadings)),
    )


def fill_missing_rows(
    partitions: Partitions,
    missing: str,
    n_clusters: int,
    scoring: Sequence[PartitionKey],
    n_components_shared: int | None = None,
) -> Partitions:
    """Partitions with rows for missing views, if there are any.

    Parameters
    ----------
    partitions : Partitions
    missing : {"zero", "impute"}
        Whether these rows stay zero, or are imputed from the views that the sample has.
    n_clusters : int
    scoring : sequence of PartitionKey
        Similarities from which rows are imputed.
    n_components_shared : int, default=None
        Number of components that views share; as many as clusters by default.

    Returns
    -------
    Partitions
    """
    if partitions.mask is None:
        return partitions
    model = None if missing == "zero" else fit_imputation(partitions, n_clusters, scoring, n_components_shared)
    fill = Fill(np.full(partitions.columns[-1].stop, model is None), model)
    basis = fill(partitions.basis(), partitions.mask)
    vectors = [basis[:, own].astype(one.dtype) for one, own in zip(partitions.vectors, partitions.columns, strict=True)]
    return replace(partitions, vectors=tuple(vectors), fill=fill)


def fit_imputation(
    partitions: Partitions,
    n_clusters: int,
    scoring: Sequence[PartitionKey] | None = None,
    n_components_shared: int | None = None,
) -> FactorModel:
    """The model that imputes the rows of missing views.

    Parameters
    ----------
    partitions : Partitions
    n_clusters : int
    scoring : sequence of PartitionKey, default=None
        Similarities from which rows are imputed; all by default.
    n_components_shared : int, default=None
        Number of components that views share; as many as clusters by default.

    Returns
    -------
    FactorModel
    """
    widths = [len(one) for one in partitions.values]
    owners = np.repeat([key.view for key in partitions.keys], widths)
    if partitions.mask is None:
        sums = [PatternSums(np.ones(int(owners.max()) + 1, dtype=bool), partitions.n_samples, partitions.products)]
    else:
        sums = sum_patterns(partitions.basis(), partitions.mask, owners)
    return fit_factor_model(
        sums,
        owners,
        n_components_shared or n_clusters,
        scales=np.concatenate([root_values(one, n_clusters) for one in partitions.values]),
        scoring=np.repeat([scoring is None or key in scoring for key in partitions.keys], widths),
    )


def root_values(values: NDArray[Any], n_clusters: int) -> NDArray[Any]:
    """Roots of eigenvalues, scaled so that the leading eigenvalues have a mean of one; zero if all are zero."""
    level = values[:n_clusters].mean()
    roots: NDArray[Any] = np.sqrt(values / level) if level > 0 else np.zeros(len(values))
    return roots


def mix_rows(
    partitions: Partitions, rows: Sequence[NDArray[Any]], mask: NDArray[np.bool_] | None, coefficients: NDArray[Any]
) -> Any:
    """Rows of other samples in every block, with missing views filled, times a matrix.

    Parameters
    ----------
    partitions : Partitions
    rows : sequence of ndarray of shape (n_new, n_components)
        Zero if the view is missing.
    mask : ndarray of bool of shape (n_new, n_views) or None
    coefficients : ndarray of shape (n_columns, n_clusters)

    Returns
    -------
    ndarray of shape (n_new, n_clusters)
    """
    if partitions.fill is None or mask is None:
        return sum(part @ coefficients[own] for part, own in zip(rows, partitions.columns, strict=True))
    return partitions.fill(np.concatenate(rows, axis=1), mask) @ coefficients


def block_agreement(partitions: Partitions, first: PartitionKey, second: PartitionKey, n_clusters: int) -> float:
    """Mean squared cosine between the leading subspaces of two blocks, on samples that have both views.

    Parameters
    ----------
    partitions : Partitions
    first, second : PartitionKey
    n_clusters : int

    Returns
    -------
    float
        Zero if too few samples have both views.
    """
    positions = [partitions.position(first), partitions.position(second)]
    one, other = (partitions.vectors[position][:, :n_clusters] for position in positions)
    rank = max(np.count_nonzero(partitions.values[position][:n_clusters]) for position in positions)
    if partitions.mask is not None:
        both = partitions.mask[:, [first.view, second.view]].all(axis=1)
        if np.count_nonzero(both) <= rank:
            return 0.0
        one, other = orthonormal_columns(one[both]), orthonormal_columns(other[both])
    return float(np.sum(to_numpy(one.T @ other) ** 2) / max(rank, 1))
