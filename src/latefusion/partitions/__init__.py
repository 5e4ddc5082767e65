"""From similarities to partitions: leading eigenvectors, their mean, missing rows, neighborhoods."""

from latefusion.partitions.base_partitions import fit_base_partitions
from latefusion.partitions.neighborhoods import NeighborCounts, count_neighbors, neighborhood_size
from latefusion.partitions.partitions import Block, Mean, Partitions

__all__ = [
    "Block",
    "Mean",
    "NeighborCounts",
    "Partitions",
    "count_neighbors",
    "fit_base_partitions",
    "neighborhood_size",
]
