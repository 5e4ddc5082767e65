"""From one view to a similarity of its samples and the extension of that similarity to new samples."""

from latefusion.similarities.extension import Similarity, SimilarityExtension
from latefusion.similarities.given import GivenPartition
from latefusion.similarities.graph import GraphSimilarity
from latefusion.similarities.info import PartitionInfo, describe_partition
from latefusion.similarities.kernel import KernelSimilarity, PrecomputedSimilarity

__all__ = [
    "GivenPartition",
    "GraphSimilarity",
    "KernelSimilarity",
    "PartitionInfo",
    "PrecomputedSimilarity",
    "Similarity",
    "SimilarityExtension",
    "describe_partition",
]
