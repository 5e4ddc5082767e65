"""Multi-view clustering by late fusion.

The same things, described by several views, become one consensus clustering with a weight per view: every view is
clustered on its own, the resulting partitions are aligned, and their consensus is labelled.
"""

from latefusion import baselines, datasets, kernels, metrics, partitions, scverse
from latefusion.estimators import (
    ConsensusClustering,
    GlobalAlignmentClustering,
    LateFusionClustering,
    LocalAlignmentClustering,
    consensus,
)
from latefusion.experiments import compare_baselines
from latefusion.outputs import labels_frame, load, save
from latefusion.partitions import GivenPartition, GraphPartition, KernelPartition, PrecomputedPartition
from latefusion.types import MultiViewDataset, Views
from latefusion.version import __version__

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
    "labels_frame",
    "load",
    "metrics",
    "partitions",
    "save",
    "scverse",
]
