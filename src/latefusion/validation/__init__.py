"""The door: whatever the user brings becomes checked `Views`, or an error that says what is wrong and what to do."""

from latefusion.validation.columns import split_columns
from latefusion.validation.frames import columns_of, is_frame
from latefusion.validation.holes import can_be_fused, check_holes, check_some_view, loose_views
from latefusion.validation.kernels import check_cross_kernel, check_diagonals, check_kernel
from latefusion.validation.sample_ids import match_rows
from latefusion.validation.views import (
    check_n_clusters,
    check_new_views,
    check_same_place,
    check_view,
    check_views,
    is_collection,
    refuse_single_columns,
)

__all__ = [
    "can_be_fused",
    "check_cross_kernel",
    "check_diagonals",
    "check_holes",
    "check_kernel",
    "check_n_clusters",
    "check_new_views",
    "check_same_place",
    "check_some_view",
    "check_view",
    "check_views",
    "columns_of",
    "is_collection",
    "is_frame",
    "loose_views",
    "match_rows",
    "refuse_single_columns",
    "split_columns",
]
