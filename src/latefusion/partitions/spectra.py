"""Leading eigenpairs of one similarity of one view, and the map that extends them to new samples.

A base partition needs k eigenvectors. A few more of them, with their eigenvalues, represent a similarity almost
completely for clustering: its agreement with others, and its part in their mean. `fuse_spectra` uses only these, so
that the samples are read once for any number of candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs
from latefusion.partitions.operators import feature_matrix, inverse_values, leading_projection
from latefusion.similarities.extension import Similarity, SimilarityExtension
from latefusion.similarities.factor import Factor
from latefusion.similarities.given import GivenMap
from latefusion.similarities.graph import GraphSimilarity, NeighborSearch
from latefusion.types import Array


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenpairs of a similarity.

    Attributes
    ----------
    values : ndarray of shape (n_components,)
        Descending; zero if they are rounding error.
    vectors : ndarray of shape (n_samples, n_components)
        Orthonormal; zero if the value is zero.
    extension : SimilarityExtension
    projection : ndarray of shape (n_features, n_components)
        Maps the features of a new sample, from the extension, to its row.
    """

    values: NDArray[Any]
    vectors: NDArray[Any]
    extension: SimilarityExtension
    projection: NDArray[Any]

    def scattered(self, observed: NDArray[np.bool_], n_known: int) -> Spectrum:
        """The same with zero rows for the samples without the view.

        Fewer rows of orthonormal columns have larger entries. The factor (n_p / n)^{1/2} corrects for this, so that
        rows of all views have the same scale. n is the number of samples that have any view: the others must not reduce
        the weight of base partitions relative to their mean.
        """
        factor = self.vectors.dtype.type(np.sqrt(np.count_nonzero(observed) / n_known))
        vectors = np.zeros((len(observed), self.vectors.shape[1]), dtype=self.vectors.dtype)
        vectors[observed] = factor * self.vectors
        return replace(self, vectors=vectors, projection=factor * self.projection)


def fit_spectrum(
    view: Array, similarity: Similarity, n_components: int, n_clusters: int, search: NeighborSearch | None = None
) -> Spectrum:
    """Leading eigenpairs of the similarity of a view's samples.

    Parameters
    ----------
    view : array
    similarity : Similarity
    n_components : int
        Number of eigenpairs.
    n_clusters : int
        Number of clusters that the similarity should separate.
    search : NeighborSearch, default=None
        That of the view, if several graphs share it.

    Returns
    -------
    Spectrum
    """
    shared = (search,) if isinstance(similarity, GraphSimilarity) else ()
    matrix, extension = similarity.similarity(view, n_clusters, *shared)
    precision = np.result_type(view.dtype, np.float32)
    if isinstance(matrix, Factor) and isinstance(matrix.feature_map, GivenMap):
        # All of its eigenvalues are one. The order of its directions depends on the other views.
        vectors, projection = matrix.feature_map(view), np.eye(matrix.feature_map.width)
        values = np.round(np.sum(vectors**2, axis=0))
    elif isinstance(matrix, Factor):
        features = feature_matrix(matrix)
        projection = leading_projection(features, n_components, precision)
        vectors = np.asarray(features @ projection)
        # The columns of Φᵀ V are V' Λ^{1/2}: their squared lengths are the eigenvalues.
        values = np.sum(np.asarray(features.T @ vectors) ** 2, axis=0)
    else:
        values, vectors = top_eigenpairs(matrix, n_components)
        inverse = inverse_values(values, precision)
        values, vectors = np.where(inverse > 0, values, 0.0), vectors * (inverse > 0)
        projection = vectors * inverse
    return Spectrum(values, vectors.astype(precision, copy=False), extension, projection.astype(precision, copy=False))
