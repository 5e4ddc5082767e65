"""From similarities to partitions: leading eigenvectors, their mean, missing rows, neighborhoods."""

from latefusion.partitions.base_partitions import BasePartitions, fit_base_partitions
from latefusion.partitions.neighborhoods import NeighborCounts, count_neighbors, neighborhood_size

__all__ = [
    "BasePartitions",
    "NeighborCounts",
    "count_neighbors",
    "fit_base_partitions",
    "neighborhood_size",
]
