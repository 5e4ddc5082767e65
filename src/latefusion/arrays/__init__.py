"""Array libraries: namespaces, conversions, devices, memory, threads and linear algebra."""

from latefusion.arrays.devices import Device, find_backends, find_devices
from latefusion.arrays.draws import draw_rows
from latefusion.arrays.linalg import (
    Polar,
    column_means,
    eigenpairs_between,
    inner_products,
    isometries,
    orient_columns,
    polar,
    root_of_products,
    rounding_threshold,
    top_eigenpairs,
    unit_rows,
)
from latefusion.arrays.memory import available_memory, require_memory, size_in_words
from latefusion.arrays.namespace import (
    beside,
    detached,
    device_name,
    device_of,
    is_device_array,
    is_lazy,
    item_bytes,
    namespace,
    row_blocks,
    row_lengths,
    take_columns,
    take_rows,
    to_numpy,
)
from latefusion.arrays.seeding import kmeans_plus_plus_rows
from latefusion.arrays.threads import map_rows, one_thread, share_blocks, threads_for

__all__ = [
    "Device",
    "Polar",
    "available_memory",
    "beside",
    "column_means",
    "detached",
    "device_name",
    "device_of",
    "draw_rows",
    "eigenpairs_between",
    "find_backends",
    "find_devices",
    "inner_products",
    "is_device_array",
    "is_lazy",
    "isometries",
    "item_bytes",
    "kmeans_plus_plus_rows",
    "map_rows",
    "namespace",
    "one_thread",
    "orient_columns",
    "polar",
    "require_memory",
    "root_of_products",
    "rounding_threshold",
    "row_blocks",
    "row_lengths",
    "share_blocks",
    "size_in_words",
    "take_columns",
    "take_rows",
    "threads_for",
    "to_numpy",
    "top_eigenpairs",
    "unit_rows",
]
