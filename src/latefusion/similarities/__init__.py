"""From one view to a similarity of its samples and the extension of that similarity to new samples."""

from latefusion.similarities.extension import Similarity, SimilarityExtension
from latefusion.similarities.given import GivenPartition
from latefusion.similarities.graph import GraphPartition
from latefusion.similarities.info import PartitionInfo, describe_partition
from latefusion.similarities.kernel import KernelPartition, PrecomputedPartition

__all__ = [
    "GivenPartition",
    "GraphPartition",
    "KernelPartition",
    "PartitionInfo",
    "PrecomputedPartition",
    "Similarity",
    "SimilarityExtension",
    "describe_partition",
]
