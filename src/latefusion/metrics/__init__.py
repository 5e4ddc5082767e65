"""Scores of clusterings against known classes, agreement, information, tests of outcomes, and the paper's theory."""

from latefusion.metrics.agreement import observed_agreement, pairwise_agreement, subspace_agreement
from latefusion.metrics.association import CategoryTest, RankTest, benjamini_hochberg, category_test, rank_test
from latefusion.metrics.calibration import CalibrationCurve, calibration_curve
from latefusion.metrics.hazard import HazardRatio, hazard_ratio
from latefusion.metrics.information import neighbor_information, shared_information
from latefusion.metrics.matching import ClusterMatch, match_clusters
from latefusion.metrics.scores import (
    adjusted_rand,
    clustering_accuracy,
    clustering_scores,
    contingency,
    encode_labels,
    match_labels,
    matched_pairs,
    normalized_mutual_info,
    purity_score,
)
from latefusion.metrics.survival import KaplanMeier, LogRank, kaplan_meier, logrank_test
from latefusion.metrics.theory import (
    ObjectiveGap,
    cluster_means,
    empirical_error,
    generalization_bound,
    objective_gap,
)

__all__ = [
    "CalibrationCurve",
    "CategoryTest",
    "ClusterMatch",
    "HazardRatio",
    "KaplanMeier",
    "LogRank",
    "ObjectiveGap",
    "RankTest",
    "adjusted_rand",
    "benjamini_hochberg",
    "calibration_curve",
    "category_test",
    "cluster_means",
    "clustering_accuracy",
    "clustering_scores",
    "contingency",
    "empirical_error",
    "encode_labels",
    "generalization_bound",
    "hazard_ratio",
    "kaplan_meier",
    "logrank_test",
    "match_clusters",
    "match_labels",
    "matched_pairs",
    "neighbor_information",
    "normalized_mutual_info",
    "objective_gap",
    "observed_agreement",
    "pairwise_agreement",
    "purity_score",
    "rank_test",
    "shared_information",
    "subspace_agreement",
]
