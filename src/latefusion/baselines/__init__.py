"""Comparison methods: those of the paper, four later ones, and two baselines from scikit-learn, with one interface.

Every class accepts the same kinds of X as the estimators of this package, and has `fit_predict`, `labels_`,
`objective_`, `n_iter_`, `converged_`, and `view_weights_` and `consensus_` where the method has them.
``parameter_grid`` holds the values that the original papers use.
"""

from latefusion.baselines.aimc import IntegralSpaceClustering
from latefusion.baselines.average_kernel import AverageKernelKMeans
from latefusion.baselines.base import ComparisonMethod
from latefusion.baselines.best_kernel import BestKernelKMeans
from latefusion.baselines.concatenation import ConcatKMeans, ConcatSpectral
from latefusion.baselines.coregularized import CentroidCoregularizedSpectral, CoregularizedSpectral
from latefusion.baselines.ee_imvc import EfficientIncompleteLateFusion
from latefusion.baselines.fpmvs import ParameterFreeAnchorClustering
from latefusion.baselines.gmc import GraphBasedClustering
from latefusion.baselines.lf_imvc import IncompleteLateFusion
from latefusion.baselines.lkam import LocalKernelAlignment
from latefusion.baselines.lmkkm import LocalizedMKKM
from latefusion.baselines.lmsc import LatentSubspaceClustering
from latefusion.baselines.lmvsc import LargeScaleSubspaceClustering
from latefusion.baselines.mkkm import MultipleKernelKMeans
from latefusion.baselines.mkkm_mr import MatrixRegularizedMKKM
from latefusion.baselines.mvgl import GraphLearning
from latefusion.baselines.mvwcmd import WeightedDiscreteConsensus
from latefusion.baselines.omsc import OrthogonalSubspaceClustering
from latefusion.baselines.one_pass import OnePassLateFusion
from latefusion.baselines.rmkkm import RobustMKKM
from latefusion.baselines.rmsc import RobustMultiViewSpectral
from latefusion.baselines.simple_mkkm import SimpleMKKM
from latefusion.baselines.smvsc import UnifiedAnchorClustering
from latefusion.baselines.spectral import BestViewSpectral
from latefusion.baselines.swmc import SelfWeightedGraph

# The methods of the paper's tables and four later late-fusion methods: what `latefusion reproduce` runs.
PAPER_METHODS: dict[str, type[ComparisonMethod]] = {
    "concat-kmeans": ConcatKMeans,
    "concat-spectral": ConcatSpectral,
    "A-MKKM": AverageKernelKMeans,
    "SB-KKM": BestKernelKMeans,
    "MKKM": MultipleKernelKMeans,
    "CRSC": CoregularizedSpectral,
    "CRSC-centroid": CentroidCoregularizedSpectral,
    "RMKKM": RobustMKKM,
    "RMSC": RobustMultiViewSpectral,
    "LMKKM": LocalizedMKKM,
    "MKKM-MR": MatrixRegularizedMKKM,
    "LKAM": LocalKernelAlignment,
    "SC": BestViewSpectral,
    "Co-reg": CoregularizedSpectral,  # the paper lists CRSC twice: for kernels, and under this name for features
    "LMSC": LatentSubspaceClustering,
    "MVGL": GraphLearning,
    "MvWCMD": WeightedDiscreteConsensus,
    "GMC": GraphBasedClustering,
    "SWMC": SelfWeightedGraph,
    "SimpleMKKM": SimpleMKKM,
    "OPLFMVC": OnePassLateFusion,
    "LF-IMVC": IncompleteLateFusion,
    "EE-IMVC": EfficientIncompleteLateFusion,
}
# Further methods, in the order of their years.
MODERN_METHODS: dict[str, type[ComparisonMethod]] = {
    "LMVSC": LargeScaleSubspaceClustering,
    "SMVSC": UnifiedAnchorClustering,
    "FPMVS-CAG": ParameterFreeAnchorClustering,
    "AIMC": IntegralSpaceClustering,
    "OMSC": OrthogonalSubspaceClustering,
}
METHODS = PAPER_METHODS | MODERN_METHODS

__all__ = [
    "METHODS",
    "MODERN_METHODS",
    "PAPER_METHODS",
    "AverageKernelKMeans",
    "BestKernelKMeans",
    "BestViewSpectral",
    "CentroidCoregularizedSpectral",
    "ConcatKMeans",
    "ConcatSpectral",
    "CoregularizedSpectral",
    "EfficientIncompleteLateFusion",
    "GraphBasedClustering",
    "GraphLearning",
    "IncompleteLateFusion",
    "IntegralSpaceClustering",
    "LargeScaleSubspaceClustering",
    "LatentSubspaceClustering",
    "LocalKernelAlignment",
    "LocalizedMKKM",
    "MatrixRegularizedMKKM",
    "MultipleKernelKMeans",
    "OnePassLateFusion",
    "OrthogonalSubspaceClustering",
    "ParameterFreeAnchorClustering",
    "RobustMKKM",
    "RobustMultiViewSpectral",
    "SelfWeightedGraph",
    "SimpleMKKM",
    "UnifiedAnchorClustering",
    "WeightedDiscreteConsensus",
]
