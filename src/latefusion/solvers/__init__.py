"""Pure alternating solvers over an array namespace: no estimators, no randomness, no warnings."""

from latefusion.solvers.late_fusion_alignment import (
    alignment_objective,
    compress_partitions,
    compress_products,
    mix_partitions,
    solve_alignment,
    weigh_partitions,
)
from latefusion.solvers.simplex import project_rows_to_simplex, simplex_quadratic

__all__ = [
    "alignment_objective",
    "compress_partitions",
    "compress_products",
    "mix_partitions",
    "project_rows_to_simplex",
    "simplex_quadratic",
    "solve_alignment",
    "weigh_partitions",
]
