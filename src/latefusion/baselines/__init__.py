"""Comparison methods: those of the paper, later ones, and two baselines from scikit-learn, with one interface.

Every class accepts the same kinds of X as the estimators of this package, and has `fit_predict`, `labels_`,
`objective_`, `n_iter_`, `converged_`, and `view_weights_` and `consensus_` where the method has them.
``parameter_grid`` holds the values that the original papers use. `CONSENSUS_METHODS` are simple methods whose input is
clusterings.
"""

from latefusion.baselines.aimc import IntegralSpaceClustering
from latefusion.baselines.average_kernel import AverageKernelKMeans
from latefusion.baselines.base import ComparisonMethod
from latefusion.baselines.best_kernel import BestKernelKMeans
from latefusion.baselines.concatenation import ConcatKMeans, ConcatSpectral
from latefusion.baselines.coregularized import CentroidCoregularizedSpectral, CoregularizedSpectral
from latefusion.baselines.ee_imvc import EfficientIncompleteLateFusion
from latefusion.baselines.eomsc import OnePassSubspaceClustering
from latefusion.baselines.fastmice import FastEnsembleClustering
from latefusion.baselines.fpmvs import ParameterFreeAnchorClustering
from latefusion.baselines.gmc import GraphBasedClustering
from latefusion.baselines.labelings import CONSENSUS_METHODS, CoAssociationLinkage, IndicatorKMeans
from latefusion.baselines.lf_imvc import IncompleteLateFusion
from latefusion.baselines.lf_pgr import ProxyGraphRefinement
from latefusion.baselines.lkam import LocalKernelAlignment
from latefusion.baselines.lmkkm import LocalizedMKKM
from latefusion.baselines.lmsc import LatentSubspaceClustering
from latefusion.baselines.lmvsc import LargeScaleSubspaceClustering
from latefusion.baselines.mkkm import MultipleKernelKMeans
from latefusion.baselines.mkkm_mr import MatrixRegularizedMKKM
from latefusion.baselines.mvgl import GraphLearning
from latefusion.baselines.mvwcmd import WeightedDiscreteConsensus
from latefusion.baselines.nemo import NeighborhoodClustering
from latefusion.baselines.omsc import OrthogonalSubspaceClustering
from latefusion.baselines.one_pass import OnePassLateFusion
from latefusion.baselines.opmc import OnePassFactorization
from latefusion.baselines.rmkkm import RobustMKKM
from latefusion.baselines.rmsc import RobustMultiViewSpectral
from latefusion.baselines.sfmc import BipartiteGraphFusion
from latefusion.baselines.simple_mkkm import SimpleMKKM
from latefusion.baselines.smvsc import UnifiedAnchorClustering
from latefusion.baselines.snf import SimilarityNetworkFusion
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
# Further methods by year.
MODERN_METHODS: dict[str, type[ComparisonMethod]] = {
    "SNF": SimilarityNetworkFusion,  # 2014
    "NEMO": NeighborhoodClustering,  # 2019
    "LMVSC": LargeScaleSubspaceClustering,  # 2020
    "SMVSC": UnifiedAnchorClustering,  # 2021
    "OPMC": OnePassFactorization,  # 2021
    "FPMVS-CAG": ParameterFreeAnchorClustering,  # 2022
    "EOMSC-CA": OnePassSubspaceClustering,  # 2022
    "SFMC": BipartiteGraphFusion,  # 2022
    "AIMC": IntegralSpaceClustering,  # 2022
    "OMSC": OrthogonalSubspaceClustering,  # 2022
    "FastMICE": FastEnsembleClustering,  # 2023
    "LF-PGR": ProxyGraphRefinement,  # 2023
}
METHODS = PAPER_METHODS | MODERN_METHODS

__all__ = [
    "CONSENSUS_METHODS",
    "METHODS",
    "MODERN_METHODS",
    "PAPER_METHODS",
    "AverageKernelKMeans",
    "BestKernelKMeans",
    "BestViewSpectral",
    "BipartiteGraphFusion",
    "CentroidCoregularizedSpectral",
    "CoAssociationLinkage",
    "ConcatKMeans",
    "ConcatSpectral",
    "CoregularizedSpectral",
    "EfficientIncompleteLateFusion",
    "FastEnsembleClustering",
    "GraphBasedClustering",
    "GraphLearning",
    "IncompleteLateFusion",
    "IndicatorKMeans",
    "IntegralSpaceClustering",
    "LargeScaleSubspaceClustering",
    "LatentSubspaceClustering",
    "LocalKernelAlignment",
    "LocalizedMKKM",
    "MatrixRegularizedMKKM",
    "MultipleKernelKMeans",
    "NeighborhoodClustering",
    "OnePassFactorization",
    "OnePassLateFusion",
    "OnePassSubspaceClustering",
    "OrthogonalSubspaceClustering",
    "ParameterFreeAnchorClustering",
    "ProxyGraphRefinement",
    "RobustMKKM",
    "RobustMultiViewSpectral",
    "SelfWeightedGraph",
    "SimilarityNetworkFusion",
    "SimpleMKKM",
    "UnifiedAnchorClustering",
    "WeightedDiscreteConsensus",
]
