"""Pictures of a fitted model, as Display objects in the manner of scikit-learn; they need `latefusion[plot]`."""

from latefusion.plots.cluster_number import NumberOfClustersDisplay
from latefusion.plots.consensus import ConsensusDisplay
from latefusion.plots.convergence import ConvergenceDisplay
from latefusion.plots.holes import HolesDisplay
from latefusion.plots.overview import draw_overview
from latefusion.plots.selection import SelectionDisplay
from latefusion.plots.weights import ViewWeightsDisplay

__all__ = [
    "ConsensusDisplay",
    "ConvergenceDisplay",
    "HolesDisplay",
    "NumberOfClustersDisplay",
    "SelectionDisplay",
    "ViewWeightsDisplay",
    "draw_overview",
]
