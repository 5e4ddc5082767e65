"""Choices without labels: candidates, their scores, the number of clusters, the importance of views."""

from latefusion.selection.alternatives import Alternative
from latefusion.selection.cluster_number import NumberEvidence, NumberOfClusters
from latefusion.selection.hints import HintResult
from latefusion.selection.number_path import NumberPath, PathCluster
from latefusion.selection.search import select
from latefusion.selection.table import Selection
from latefusion.selection.view_importance import ViewVerdict, WeightIntervals

__all__ = [
    "Alternative",
    "HintResult",
    "NumberEvidence",
    "NumberOfClusters",
    "NumberPath",
    "PathCluster",
    "Selection",
    "ViewVerdict",
    "WeightIntervals",
    "select",
]
