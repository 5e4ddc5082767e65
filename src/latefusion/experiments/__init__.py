"""Methods side by side on one data set, and the tables that show them."""

from latefusion.experiments.baselines import compare_baselines
from latefusion.experiments.comparison import (
    ComparisonRow,
    compare_methods,
    comparison_table,
    fit_and_score,
    honest_lines,
    row_record,
    single_view_lines,
    with_label_free_scores,
)
from latefusion.experiments.tables import format_table

__all__ = [
    "ComparisonRow",
    "compare_baselines",
    "compare_methods",
    "comparison_table",
    "fit_and_score",
    "format_table",
    "honest_lines",
    "row_record",
    "single_view_lines",
    "with_label_free_scores",
]
