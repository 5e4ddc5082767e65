"""Pictures of a fitted model, as Display objects in the manner of scikit-learn; they need `latefusion[plot]`."""

from latefusion.plots.affinity import BlockAffinityDisplay
from latefusion.plots.agreement import ViewAgreementDisplay
from latefusion.plots.cluster_number import NumberOfClustersDisplay
from latefusion.plots.confidence import ConfidenceDisplay
from latefusion.plots.consensus import ConsensusDisplay
from latefusion.plots.convergence import ConvergenceDisplay
from latefusion.plots.holes import HolesDisplay
from latefusion.plots.overview import draw_overview
from latefusion.plots.path import RegularizationPathDisplay
from latefusion.plots.selection import SelectionDisplay
from latefusion.plots.single_views import ViewMapsDisplay
from latefusion.plots.weights import ViewWeightsDisplay

__all__ = [
    "BlockAffinityDisplay",
    "ConfidenceDisplay",
    "ConsensusDisplay",
    "ConvergenceDisplay",
    "HolesDisplay",
    "NumberOfClustersDisplay",
    "RegularizationPathDisplay",
    "SelectionDisplay",
    "ViewAgreementDisplay",
    "ViewMapsDisplay",
    "ViewWeightsDisplay",
    "draw_overview",
]
