"""Rows of missing views: zero, or imputed from the views that a sample has.

The base partition of view p is H_p = (n_p / n)^{1/2} E_p V_p, with E_p the matrix that puts the rows of the n_p samples
that have the view among all n. Its other rows stay zero or are imputed, see `latefusion.partitions.imputation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs
from latefusion.partitions.imputation import FactorModel, Fill, PatternSums, fit_factor_model, sum_patterns
from latefusion.partitions.partitions import Mean, PartitionKey, Partitions
from latefusion.partitions.spectra import inverse_values


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
