"""One view to one base partition: similarities of several kinds, leading eigenvectors, the map for new samples."""

from latefusion.partitions.base_partitions import BasePartitions, fit_base_partitions
from latefusion.partitions.given import GivenPartition
from latefusion.partitions.graph import GraphPartition
from latefusion.partitions.info import PartitionInfo, describe_partition
from latefusion.partitions.kernel import KernelPartition, PrecomputedPartition
from latefusion.partitions.neighborhoods import NeighborCounts, count_neighbors, neighborhood_size

__all__ = [
    "BasePartitions",
    "GivenPartition",
    "GraphPartition",
    "KernelPartition",
    "NeighborCounts",
    "PartitionInfo",
    "PrecomputedPartition",
    "count_neighbors",
    "describe_partition",
    "fit_base_partitions",
    "neighborhood_size",
]
