"""Multi-view clustering by late fusion.

The same things, described by several views, become one consensus clustering with a weight per view: every view is
clustered on its own, the resulting partitions are aligned, and their consensus is labelled.
"""

from latefusion import baselines, datasets, kernels, metrics, partitions
from latefusion.estimators import (
    ConsensusClustering,
    GlobalAlignmentClustering,
    LateFusionClustering,
    LocalAlignmentClustering,
    consensus,
)
from latefusion.experiments import compare_baselines
from latefusion.partitions import GivenPartition, GraphPartition, KernelPartition, PrecomputedPartition
from latefusion.types import MultiViewDataset, Views

__version__ = "0.1.0.dev0"

__all__ = [
    "ConsensusClustering",
    "GivenPartition",
    "GlobalAlignmentClustering",
    "GraphPartition",
    "KernelPartition",
    "LateFusionClustering",
    "LocalAlignmentClustering",
    "MultiViewDataset",
    "PrecomputedPartition",
    "Views",
    "__version__",
    "baselines",
    "compare_baselines",
    "consensus",
    "datasets",
    "kernels",
    "metrics",
    "partitions",
]
