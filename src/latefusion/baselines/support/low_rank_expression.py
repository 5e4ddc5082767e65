"""Low-rank self-expression without n x n matrices: thin factors, their singular values, their linear systems.

A self-expression Z (n x n) that is the sum of a few products of thin matrices needs two orthonormal bases with few
columns, Z = U S Vᵀ with U and V of shape n x q. Its singular values are those of the core S, and a linear system with
(I - Z)(I - Z)ᵀ becomes one of size 2 q. Everything here costs O(n q²).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Matrix = NDArray[Any]


class Product(NamedTuple):
    """A matrix of low rank as a product of two thin ones.

    Attributes
    ----------
    left, right : ndarray of shape (n_samples, r)
        The matrix is left · rightᵀ.
    """

    left: Matrix
    right: Matrix

    def apply(self, rows: Matrix) -> Matrix:
        """Multiply rows with the matrix."""
        product: Matrix = (rows @ self.left) @ self.right.T
        return product

    def dense(self) -> Matrix:
        """Form the matrix itself."""
        product: Matrix = self.left @ self.right.T
        return product


class Expression(NamedTuple):
    """Self-expression Z and the matrix whose singular values are lowered next, in the same orthonormal bases.

    Attributes
    ----------
    left, right : ndarray of shape (n_samples, q)
        Orthonormal columns.
    core : ndarray of shape (q, q)
        Z = left · core · rightᵀ.
    shifted : ndarray of shape (q, q)
        The other matrix is left · shifted · rightᵀ.
    """

    left: Matrix
    right: Matrix
    core: Matrix
    shifted: Matrix

    def apply(self, rows: Matrix) -> Matrix:
        """Multiply rows with Z."""
        product: Matrix = ((rows @ self.left) @ self.core) @ self.right.T
        return product

    def apply_transposed(self, rows: Matrix) -> Matrix:
        """Multiply rows with Zᵀ."""
        product: Matrix = ((rows @ self.right) @ self.core.T) @ self.left.T
        return product

    def dense(self) -> Matrix:
        """Form Z itself."""
        product: Matrix = (self.left @ self.core) @ self.right.T
        return product


def zero_expression(n_samples: int) -> Expression:
    """Z = 0, with no columns at all."""
    thin, core = np.zeros((n_samples, 0)), np.zeros((0, 0))
    return Expression(thin, thin, core, core)


def compress(terms: list[Product], shift: float) -> Expression:
    """Bring a sum of products to shared orthonormal bases.

    Parameters
    ----------
    terms : list of Product
        Z is their sum.
    shift : float
        The other matrix of the result is Z plus this multiple of the last term.

    Returns
    -------
    Expression
    """
    left, left_triangle = np.linalg.qr(np.concatenate([term.left for term in terms], axis=1))
    right, right_triangle = np.linalg.qr(np.concatenate([term.right for term in terms], axis=1))
    core = left_triangle @ right_triangle.T
    last = slice(left_triangle.shape[1] - terms[-1].left.shape[1], None)
    return Expression(left, right, core, core + shift * left_triangle[:, last] @ right_triangle[:, last].T)


def lower_singular_values(expression: Expression, threshold: float) -> tuple[Product, float]:
    """Lower the singular values of left · shifted · rightᵀ: the proximal point of threshold times the nuclear norm.

    Parameters
    ----------
    expression : Expression
    threshold : float

    Returns
    -------
    lowered : Product
    nuclear_norm : float
        Sum of the singular values that are left.
    """
    left, values, right = scipy.linalg.svd(expression.shifted, full_matrices=False, check_finite=False)
    remaining = values - threshold
    kept = remaining > 0
    lowered = Product(expression.left @ left[:, kept], expression.right @ (right[kept].T * remaining[kept]))
    return lowered, float(remaining[kept].sum())


def solve_gap_system(right_hand: Matrix, expression: Expression, shift: float) -> Matrix:
    """Solve H (shift I + (I - Z)(I - Z)ᵀ) = C for H.

    Parameters
    ----------
    right_hand : ndarray of shape (r, n_samples)
        C.
    expression : Expression
        Z.
    shift : float
        Positive.

    Returns
    -------
    ndarray of shape (r, n_samples)

    Notes
    -----
    With Z = U S Vᵀ and G = [U V] the matrix is (shift + 1) I + G M Gᵀ, where M has the blocks S Sᵀ, -S, -Sᵀ and 0. By
    Woodbury's identity its inverse needs the system (shift + 1) I + GᵀG M of size 2 q only.
    """
    bases = np.concatenate([expression.left, expression.right], axis=1)
    core, size = expression.core, len(expression.core)
    middle = np.zeros((2 * size, 2 * size))
    middle[:size, :size] = core @ core.T
    middle[:size, size:] = -core
    middle[size:, :size] = -core.T
    small = (bases.T @ bases) @ middle
    small[np.diag_indices(2 * size)] += shift + 1.0
    correction = np.linalg.solve(small.T, ((right_hand @ bases) @ middle).T).T
    solution: Matrix = (right_hand - correction @ bases.T) / (shift + 1.0)
    return solution


def update_expression(latent: Matrix, latent_targets: Matrix, auxiliary: Product, dual: Product) -> Product:
    """Minimise ‖H - H Z - E‖² + ‖G - Z‖² over Z, with G = J - D: the solution is Z = G + HᵀN.

    Parameters
    ----------
    latent : ndarray of shape (r, n_samples)
        H.
    latent_targets : ndarray of shape (r, n_samples)
        E.
    auxiliary, dual : Product
        J and D.

    Returns
    -------
    Product
        Hᵀ and N = (I + H Hᵀ)^{-1} (H - E - H G).
    """
    gap = latent - latent_targets - auxiliary.apply(latent) + dual.apply(latent)
    system = latent @ latent.T
    system[np.diag_indices(len(system))] += 1.0
    return Product(latent.T, scipy.linalg.solve(system, gap, assume_a="pos").T)
