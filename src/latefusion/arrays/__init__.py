"""The only room that knows which array library is at work: namespaces, conversions, linear algebra."""

from latefusion.arrays.linalg import (
    Polar,
    orient_columns,
    polar,
    singular_value_threshold,
    solve_symmetric_sylvester,
    top_eigenpairs,
    unit_rows,
)
from latefusion.arrays.namespace import (
    column_means,
    device_of,
    lies_elsewhere,
    namespace,
    row_blocks,
    row_lengths,
    to_numpy,
)

__all__ = [
    "Polar",
    "column_means",
    "device_of",
    "lies_elsewhere",
    "namespace",
    "orient_columns",
    "polar",
    "row_blocks",
    "row_lengths",
    "singular_value_threshold",
    "solve_symmetric_sylvester",
    "to_numpy",
    "top_eigenpairs",
    "unit_rows",
]
