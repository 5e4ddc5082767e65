"""Leading eigenpairs of one similarity of one view, and the map that gives new samples their rows.

A base partition needs k eigenvectors. A few more of them, with their eigenvalues, say nearly all that there is to know
of a similarity for clustering: what it has in common with others, and its part in their mean. `fuse_spectra` works from
them alone, so that the samples are looked at once, however many ways of fusing are tried.
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
        Descending; zero where they are rounding error.
    vectors : ndarray of shape (n_samples, n_components)
        Orthonormal; zero where the value is.
    extension : SimilarityExtension
    projection : ndarray of shape (n_features, n_components)
        What turns the features of a new sample, as the extension gives them, into its row.
    """

    values: NDArray[Any]
    vectors: NDArray[Any]
    extension: SimilarityExtension
    projection: NDArray[Any]

    def scattered(self, observed: NDArray[np.bool_], n_known: int) -> Spectrum:
        """The same among more samples, of which only some have the view: zero rows for the others.

        Entries of orthonormal columns are the larger the fewer they are. The factor (n_p / n)^{1/2} takes that back, so
        that a row means the same in every view, and a view of few samples gains nothing by it. n counts the samples
        that have any view: the others must not make base partitions fainter beside their mean.
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
        What the similarity is to be good for.
    search : NeighborSearch, default=None
        That of the view, where several graphs share it.

    Returns
    -------
    Spectrum
    """
    shared = (search,) if isinstance(similarity, GraphSimilarity) else ()
    matrix, extension = similarity.similarity(view, n_clusters, *shared)
    precision = np.result_type(view.dtype, np.float32)
    if isinstance(matrix, Factor) and isinstance(matrix.feature_map, GivenMap):
        # All of its eigenvalues are one: none of its directions comes before another until other views are heard.
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
