"""Multi-view clustering by late fusion.

Several views describe the same samples. Each view is clustered, the resulting partitions are aligned, and their
consensus gives one clustering with a weight per view.
"""

from latefusion import baselines, datasets, kernels, metrics, scverse, similarities
from latefusion.estimators import (
    ConsensusClustering,
    GlobalAlignmentClustering,
    LateFusionClustering,
    LocalAlignmentClustering,
    PerView,
    Update,
    consensus,
    match,
)
from latefusion.experiments import compare_baselines
from latefusion.interpretation import Profiles, outcome, profiles
from latefusion.metrics import ClusterMatch
from latefusion.outputs import labels_frame, load, save
from latefusion.similarities import GivenPartition, GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.types import MultiViewDataset, Views
from latefusion.version import __version__

__all__ = [
    "ClusterMatch",
    "ConsensusClustering",
    "GivenPartition",
    "GlobalAlignmentClustering",
    "GraphSimilarity",
    "KernelSimilarity",
    "LateFusionClustering",
    "LocalAlignmentClustering",
    "MultiViewDataset",
    "PerView",
    "PrecomputedSimilarity",
    "Profiles",
    "Update",
    "Views",
    "__version__",
    "baselines",
    "compare_baselines",
    "consensus",
    "datasets",
    "kernels",
    "labels_frame",
    "load",
    "match",
    "metrics",
    "outcome",
    "profiles",
    "save",
    "scverse",
    "similarities",
]
