"""Leading eigenvectors of similarities that are given by products only: factors and graphs.

The cheapest method depends on the factor Φ (n x w), S = ΦΦᵀ:

- few columns: the eigenvectors of the small matrix ΦᵀΦ, one product with Φ per column, in large blocks;
- a sparse Φ, as that of an anchor graph: the same, ΦᵀΦ being sparse;
- many columns: Lanczos on ΦᵀΦ or ΦΦᵀ, whichever is smaller, a few products per eigenvector, one at a time.

Randomized range finders are not used: they need many times more products than Lanczos for the same accuracy if
eigenvalues decrease slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.arrays import rounding_threshold, row_blocks, top_eigenpairs
from latefusion.similarities.factor import Factor, LinearMap

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
    block = max(1, BLOCK_ENTRIES // factor.feature_map.width)
    blocks = row_blocks(factor.shape[0], block)
    parts = [factor.rows(rows.start, rows.stop).astype(np.float64) for rows in blocks]
    return scipy.sparse.vstack(parts, format="csr") if scipy.sparse.issparse(parts[0]) else np.concatenate(parts)


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


class SideBySide(LinearOperator):
    """Several factors as one, [Φ_1 | … | Φ_m].

    Parameters
    ----------
    parts : sequence of arrays, sparse matrices or operators of shape (n_samples, width_p)
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self.edges = np.cumsum([0, *(part.shape[1] for part in parts)])
        super().__init__(np.dtype(np.float64), (parts[0].shape[0], int(self.edges[-1])))

    def split(self, matrix: NDArray[Any]) -> list[NDArray[Any]]:
        """The rows of a matrix that belong to every factor."""
        return np.split(matrix, self.edges[1:-1])

    def _matmat(self, right: NDArray[Any]) -> Any:
        return sum(part @ own for part, own in zip(self.parts, self.split(right), strict=True))

    def _rmatvec(self, left: NDArray[Any]) -> NDArray[Any]:
        return self._rmatmat(left.reshape(-1, 1)).reshape(-1)  # SciPy before 1.16 does not do so by itself

    def _rmatmat(self, left: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([part.T @ left for part in self.parts])


class MeanSimilarity(LinearOperator):
    """The mean of similarities, by products with vectors.

    Parameters
    ----------
    features : sequence of arrays, sparse matrices or operators of shape (n_samples, width_p)
        Φ_p of the similarities that are factors.
    graphs : sequence of sparse matrices of shape (n_samples, n_samples)
    """

    def __init__(self, features: Sequence[Any], graphs: Sequence[Any]) -> None:
        self.features = features
        self.graphs = graphs
        n_samples = (*features, *graphs)[0].shape[0]
        super().__init__(np.dtype(np.float64), (n_samples, n_samples))

    def _matmat(self, right: NDArray[Any]) -> Any:
        total = sum(one @ (one.T @ right) for one in self.features) + sum(graph @ right for graph in self.graphs)
        return total / (len(self.features) + len(self.graphs))


class _GramOperator(LinearOperator):
    """ΦᵀΦ by products with vectors."""

    def __init__(self, features: Any) -> None:
        self.features = features
        super().__init__(np.dtype(np.float64), (features.shape[1], features.shape[1]))

    def _matmat(self, right: NDArray[Any]) -> Any:
        return self.features.T @ (self.features @ right)


def leading_eigenvectors(similarity: Any, n_clusters: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Leading eigenvectors V of a similarity, and V Λ^{-1}, which extends them to new samples.

    Parameters
    ----------
    similarity : ndarray, sparse matrix or LinearOperator of shape (n_samples, n_samples)
    n_clusters : int

    Returns
    -------
    vectors, projection : ndarray of shape (n_samples, n_clusters)
        Columns that belong to no eigenvalue but zero are zero.
    """
    values, vectors = top_eigenpairs(similarity, n_clusters)
    # An eigenvalue below a share of the largest is rounding error; dividing by it would amplify noise.
    inverse = inverse_values(values, values.dtype).astype(vectors.dtype)
    vectors = vectors * (inverse > 0)
    return vectors, vectors * inverse


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
        values, vectors = top_eigenpairs(_GramOperator(features), n_pairs)
    else:
        values, vectors = top_eigenpairs(MeanSimilarity([features], []), n_pairs)
        vectors = (features.T @ vectors) * np.sqrt(inverse_values(values, precision))
    projection = np.zeros((width, n_clusters))
    projection[:, :n_pairs] = vectors * np.sqrt(inverse_values(values, precision))
    return projection


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


def inverse_values(values: NDArray[Any], precision: Any) -> NDArray[Any]:
    """One over descending eigenvalues, and zero for those that are rounding error."""
    present = values > rounding_threshold(np.finfo(precision).eps, values[0])
    inverse: NDArray[Any] = np.where(present, 1 / np.where(present, values, 1.0), 0.0)
    return inverse


def _is_dense(features: Any) -> bool:
    return isinstance(getattr(features, "rows", features), np.ndarray)
