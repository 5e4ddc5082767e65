"""Estimators: thin shells around partitions, solvers and assignment."""

from latefusion.estimators.consensus_clustering import ConsensusClustering, consensus
from latefusion.estimators.global_alignment import GlobalAlignmentClustering
from latefusion.estimators.late_fusion import LateFusionClustering
from latefusion.estimators.local_alignment import LocalAlignmentClustering
from latefusion.estimators.matching import match
from latefusion.estimators.path import RegularizationPath
from latefusion.estimators.per_view import PerView
from latefusion.estimators.updates import Update

__all__ = [
    "ConsensusClustering",
    "GlobalAlignmentClustering",
    "LateFusionClustering",
    "LocalAlignmentClustering",
    "PerView",
    "RegularizationPath",
    "Update",
    "consensus",
    "match",
]
