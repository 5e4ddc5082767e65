"""Pure alternating solvers over an array namespace: no estimators, no randomness, no warnings."""

from latefusion.solvers.late_fusion_alignment import (
    alignment_objective,
    compress_partitions,
    compress_products,
    mix_partitions,
    solve_alignment,
    weigh_partitions,
)

__all__ = [
    "alignment_objective",
    "compress_partitions",
    "compress_products",
    "mix_partitions",
    "solve_alignment",
    "weigh_partitions",
]
