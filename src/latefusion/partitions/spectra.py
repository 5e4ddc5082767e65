"""From a similarity to its leading eigenvectors, and to the map that extends them to new samples.

A similarity is a dense matrix, a sparse graph or a factor Φ (n x w) with S = ΦΦᵀ. For a factor the cheapest method
depends on Φ:

- few columns: the eigenvectors of the small matrix ΦᵀΦ, one product with Φ per column, in large blocks;
- a sparse Φ, as that of an anchor graph: the same, ΦᵀΦ being sparse;
- many columns: Lanczos on ΦᵀΦ or ΦΦᵀ, whichever is smaller, a few products per eigenvector, one at a time.

Randomized range finders are not used: they need many times more products than Lanczos for the same accuracy if
eigenvalues decrease slowly.

A base partition needs k eigenvectors. A few more of them, with their eigenvalues, represent a similarity almost
completely for clustering: its agreement with others, and its part in their mean. `fuse_spectra` uses only these, so
that the samples are read once for any number of candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.arrays import (
    is_device_array,
    namespace,
    rounding_threshold,
    row_blocks,
    to_numpy,
    top_eigenpairs,
)
from latefusion.partitions.factor_stack import FactorStack, whitened
from latefusion.similarities.extension import Similarity, SimilarityExtension
from latefusion.similarities.factor import Factor, LinearMap
from latefusion.similarities.given import GivenMap
from latefusion.similarities.graph import GraphSimilarity, NeighborSearch
from latefusion.types import Array

# Products with Φ that Lanczos takes, by the number of eigenvectors and a few more; ten of them took 100 to 280 on dense
# and sparse views.
PRODUCTS_PER_VECTOR = 10
SPARE_VECTORS = 10
# Columns of a dense Φ that can be multiplied in one block in the time of a single one; fewer for a sparse Φ.
DENSE_BLOCK_GAIN = 15
# A wider ΦᵀΦ would need more than 300 MB.
LARGEST_GRAM = 6000
# Entries of blocks of features, and of blocks of products with them.
BLOCK_ENTRIES = 2**21


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
        vectors = scatter_rows(factor * self.vectors, observed)
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
    precision = view.dtype if is_device_array(view) else np.result_type(view.dtype, np.float32)
    if isinstance(matrix, Factor) and isinstance(matrix.feature_map, GivenMap):
        # All of its eigenvalues are one. The order of its directions depends on the other views.
        vectors, projection = matrix.feature_map(view), np.eye(matrix.feature_map.width)
        values = np.round(np.sum(vectors**2, axis=0))
    elif isinstance(matrix, Factor) and is_narrow(matrix, n_components):
        stack = FactorStack([matrix])
        values, projection = whitened(stack.products(), n_components, stack.precision)
        values, vectors = to_numpy(values), stack.times(projection)
    elif isinstance(matrix, Factor):
        features = feature_matrix(matrix)
        projection = leading_projection(features, n_components, precision)
        vectors = np.asarray(features @ projection)
        # The columns of Φᵀ V are V' Λ^{1/2}: their squared lengths are the eigenvalues.
        values = np.sum(np.asarray(features.T @ vectors) ** 2, axis=0)
    else:
        values, vectors, projection = leading_eigenpairs(matrix, n_components, precision)
    xp = namespace(vectors, projection)
    vectors, projection = (xp.astype(one, precision, copy=False) for one in (vectors, projection))
    return Spectrum(values, vectors, extension, projection)


def is_narrow(factor: Factor, n_components: int) -> bool:
    """Whether the rows of a factor are dense and few columns wide, so that ΦᵀΦ is formed without a copy of Φ.

    On a device, it always is.
    """
    if is_device_array(factor.view):
        return True
    return (
        factor.features is None
        and factor.has_dense_rows
        and takes_gram(factor.feature_map.width, n_components, dense=True)
    )


def scatter_rows(rows: NDArray[Any], observed: NDArray[np.bool_]) -> NDArray[Any]:
    """Rows of some samples among those of all; the others are zero."""
    everywhere = np.zeros((len(observed), *rows.shape[1:]), dtype=rows.dtype)
    everywhere[observed] = rows
    return everywhere


def leading_eigenpairs(
    similarity: Any, n_components: int, precision: Any = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Leading eigenvalues Λ and eigenvectors V of a similarity, and V Λ^{-1}, which extends them to new samples.

    Parameters
    ----------
    similarity : ndarray, sparse matrix or LinearOperator of shape (n_samples, n_samples)
    n_components : int
    precision : dtype, default=None
        Defines the threshold of rounding errors; that of the similarity by default.

    Returns
    -------
    values : ndarray of shape (n_components,)
    vectors, projection : ndarray of shape (n_samples, n_components)
        Columns that belong to no eigenvalue but zero are zero.
    """
    values, vectors = top_eigenpairs(similarity, n_components)
    # An eigenvalue below a share of the largest is rounding error; dividing by it would amplify noise.
    inverse = inverse_values(values, values.dtype if precision is None else precision)
    vectors = vectors * (inverse > 0)
    return np.where(inverse > 0, values, 0.0), vectors, vectors * inverse


def inverse_values(values: NDArray[Any], precision: Any) -> NDArray[Any]:
    """One over descending eigenvalues, and zero for those that are rounding error."""
    present = values > rounding_threshold(np.finfo(precision).eps, values[0])
    inverse: NDArray[Any] = np.where(present, 1 / np.where(present, values, 1.0), 0.0)
    return inverse


def feature_matrix(factor: Factor) -> Any:
    """All rows of Φ in the form that is cheapest to store and multiply: dense, sparse, or as an operator.

    Parameters
    ----------
    factor : Factor

    Returns
    -------
    ndarray, sparse matrix or LinearOperator of shape (n_samples, width)
        In double precision: the accuracy of Lanczos is that of its products.
    """
    if factor.features is not None:
        return factor.features.astype(np.float64)
    if isinstance(factor.feature_map, LinearMap):
        return factor.feature_map.implicit(factor.view)
    blocks = row_blocks(factor.shape[0], max(1, BLOCK_ENTRIES // factor.feature_map.width))
    return np.concatenate([factor.rows(rows.start, rows.stop).astype(np.float64) for rows in blocks])


def leading_projection(features: Any, n_clusters: int, precision: Any) -> NDArray[Any]:
    """The matrix that maps rows of Φ to the leading eigenvectors of ΦΦᵀ, V Λ^{-1/2} of the eigenpairs of ΦᵀΦ.

    Parameters
    ----------
    features : ndarray, sparse matrix or LinearOperator of shape (n_samples, width)
    n_clusters : int
    precision : dtype
        Of the view, which defines the threshold of rounding errors.

    Returns
    -------
    ndarray of shape (width, n_clusters)
        Columns that belong to no eigenvalue but zero are zero.
    """
    n_samples, width = features.shape
    n_pairs = min(n_clusters, n_samples, width)
    if scipy.sparse.issparse(features) or takes_gram(width, n_clusters, dense=_is_dense(features)):
        values, vectors = top_eigenpairs(gram_matrix(features), n_pairs)
    elif width <= n_samples:
        products = symmetric_operator(width, lambda right: features.T @ (features @ right))
        values, vectors = top_eigenpairs(products, n_pairs)
    else:
        similarity = symmetric_operator(n_samples, lambda right: features @ (features.T @ right))
        values, vectors = top_eigenpairs(similarity, n_pairs)
        vectors = (features.T @ vectors) * np.sqrt(inverse_values(values, precision))
    projection = np.zeros((width, n_clusters))
    projection[:, :n_pairs] = vectors * np.sqrt(inverse_values(values, precision))
    return projection


def takes_gram(width: int, n_clusters: int, *, dense: bool) -> bool:
    """Whether ΦᵀΦ is formed: whether one product per column of Φ is cheaper than the products of Lanczos.

    Parameters
    ----------
    width : int
        Number of columns of Φ.
    n_clusters : int
        Number of eigenvectors.
    dense : bool
        Whether blocks of products are much faster than single ones.

    Returns
    -------
    bool
    """
    products = PRODUCTS_PER_VECTOR * (n_clusters + SPARE_VECTORS)
    return width <= min(LARGEST_GRAM, products * (DENSE_BLOCK_GAIN if dense else 1))


def gram_matrix(features: Any) -> Any:
    """ΦᵀΦ in double precision, dense or, for a sparse Φ, sparse."""
    n_samples, width = features.shape
    if scipy.sparse.issparse(features):
        return (features.T @ features).tocsr()
    gram = np.zeros((width, width))
    if _is_dense(features):
        for rows in row_blocks(n_samples, max(1, BLOCK_ENTRIES // width)):
            block = features[rows]
            gram += block.T @ block
        return gram
    for columns in row_blocks(width, max(1, BLOCK_ENTRIES // n_samples)):
        gram[:, columns] = features.T @ (features @ np.eye(width)[:, columns])
    return (gram + gram.T) / 2


def operator(
    shape: tuple[int, int], multiply: Callable[[Any], Any], transposed: Callable[[Any], Any]
) -> LinearOperator:
    """A matrix that is known by its products only.

    Parameters
    ----------
    shape : tuple of int
    multiply, transposed : callable
        The products of the matrix and of its transpose with a matrix on their right.

    Returns
    -------
    LinearOperator
    """
    return LinearOperator(
        shape,
        matvec=lambda right: multiply(right.reshape(-1, 1)),
        rmatvec=lambda left: transposed(left.reshape(-1, 1)),
        matmat=multiply,
        rmatmat=transposed,
        dtype=np.float64,
    )


def symmetric_operator(size: int, multiply: Callable[[Any], Any]) -> LinearOperator:
    """The same of a symmetric matrix."""
    return operator((size, size), multiply, multiply)


def _is_dense(features: Any) -> bool:
    return isinstance(getattr(features, "rows", features), np.ndarray)
