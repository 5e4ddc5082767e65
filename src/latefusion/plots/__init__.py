"""Plots of fitted models as Display objects, as in scikit-learn. Need `latefusion[plot]`."""

from latefusion.plots.affinity import BlockAffinityDisplay
from latefusion.plots.agreement import ViewAgreementDisplay
from latefusion.plots.calibration import CalibrationDisplay
from latefusion.plots.cluster_number import NumberOfClustersDisplay
from latefusion.plots.cluster_tree import ClusterTreeDisplay
from latefusion.plots.confidence import ConfidenceDisplay
from latefusion.plots.consensus import ConsensusDisplay
from latefusion.plots.convergence import ConvergenceDisplay
from latefusion.plots.missing_views import MissingViewsDisplay
from latefusion.plots.overview import draw_overview
from latefusion.plots.path import RegularizationPathDisplay
from latefusion.plots.selection import SelectionDisplay
from latefusion.plots.single_views import ViewMapsDisplay
from latefusion.plots.survival import SurvivalDisplay
from latefusion.plots.weights import ViewWeightsDisplay

__all__ = [
    "BlockAffinityDisplay",
    "CalibrationDisplay",
    "ClusterTreeDisplay",
    "ConfidenceDisplay",
    "ConsensusDisplay",
    "ConvergenceDisplay",
    "MissingViewsDisplay",
    "NumberOfClustersDisplay",
    "RegularizationPathDisplay",
    "SelectionDisplay",
    "SurvivalDisplay",
    "ViewAgreementDisplay",
    "ViewMapsDisplay",
    "ViewWeightsDisplay",
    "draw_overview",
]
