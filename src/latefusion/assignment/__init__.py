"""Consensus rows to labels: k-means, spectral rotation, pivoted QR, average linkage, a mixture, a linear discriminant.

Each rule also labels new rows.
"""

from latefusion.assignment.linear import LinearDiscriminant, fit_linear_discriminant, fit_mixture
from latefusion.assignment.membership import Membership, fit_membership
from latefusion.assignment.rules import (
    ASSIGNMENTS,
    LargestVote,
    NearestCenter,
    RotatedAxes,
    assign_by_kmeans,
    assign_by_linkage,
    assign_by_mixture,
    assign_by_pivoted_qr,
    assign_by_rotation,
)

__all__ = [
    "ASSIGNMENTS",
    "LargestVote",
    "LinearDiscriminant",
    "Membership",
    "NearestCenter",
    "RotatedAxes",
    "assign_by_kmeans",
    "assign_by_linkage",
    "assign_by_mixture",
    "assign_by_pivoted_qr",
    "assign_by_rotation",
    "fit_linear_discriminant",
    "fit_membership",
    "fit_mixture",
]
