"""One view to one Gram matrix: the paper's five kernels, centering, scaling, combination."""

from latefusion.kernels.functions import (
    KERNELS,
    FittedKernel,
    fit_kernel,
    gaussian_kernel,
    laplace_kernel,
    linear_kernel,
    mean_distance,
    polynomial_kernel,
    sigmoid_kernel,
)
from latefusion.kernels.scaling import (
    KernelStatistics,
    center_kernel,
    combine_kernels,
    normalize_kernel,
    standardize_kernel,
)

__all__ = [
    "KERNELS",
    "FittedKernel",
    "KernelStatistics",
    "center_kernel",
    "combine_kernels",
    "fit_kernel",
    "gaussian_kernel",
    "laplace_kernel",
    "linear_kernel",
    "mean_distance",
    "normalize_kernel",
    "polynomial_kernel",
    "sigmoid_kernel",
    "standardize_kernel",
]
