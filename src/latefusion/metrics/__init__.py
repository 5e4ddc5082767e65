"""Scores of clusterings against known classes, agreement, information, and the quantities of the paper's theory."""

from latefusion.metrics.agreement import observed_agreement, pairwise_agreement, subspace_agreement
from latefusion.metrics.calibration import CalibrationCurve, calibration_curve
from latefusion.metrics.information import neighbor_information, shared_information
from latefusion.metrics.scores import (
    adjusted_rand,
    clustering_accuracy,
    clustering_scores,
    contingency,
    encode_labels,
    match_labels,
    normalized_mutual_info,
    purity_score,
)
from latefusion.metrics.theory import (
    ObjectiveGap,
    cluster_means,
    empirical_error,
    generalization_bound,
    objective_gap,
)

__all__ = [
    "CalibrationCurve",
    "ObjectiveGap",
    "adjusted_rand",
    "calibration_curve",
    "cluster_means",
    "clustering_accuracy",
    "clustering_scores",
    "contingency",
    "empirical_error",
    "encode_labels",
    "generalization_bound",
    "match_labels",
    "neighbor_information",
    "normalized_mutual_info",
    "objective_gap",
    "observed_agreement",
    "pairwise_agreement",
    "purity_score",
    "shared_information",
    "subspace_agreement",
]
