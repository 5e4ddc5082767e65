"""Multi-view clustering by late fusion.

The same things, described by several views, become one consensus clustering with a weight per view: every view is
clustered on its own, the resulting partitions are aligned, and their consensus is labelled.
"""

from latefusion import baselines, datasets, kernels, metrics, partitions
from latefusion.estimators import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering
from latefusion.experiments import compare_baselines
from latefusion.outputs import labels_frame, load, save
from latefusion.partitions import GraphPartition, KernelPartition, PrecomputedPartition
from latefusion.types import MultiViewDataset, Views

__version__ = "0.1.0.dev0"

__all__ = [
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
    "datasets",
    "kernels",
    "labels_frame",
    "load",
    "metrics",
    "partitions",
    "save",
]
