"""Comparison of methods on one data set, and the evaluation of the paper."""

from latefusion.experiments.baselines import compare_baselines
from latefusion.experiments.comparison import (
    Comparison,
    ComparisonRow,
    compare_methods,
    fit_and_score,
    run_baselines,
    run_single_views,
    with_label_free_scores,
)

__all__ = [
    "Comparison",
    "ComparisonRow",
    "compare_baselines",
    "compare_methods",
    "fit_and_score",
    "run_baselines",
    "run_single_views",
    "with_label_free_scores",
]
