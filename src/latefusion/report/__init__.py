"""One self-contained HTML page from a fitted model; it needs `latefusion[report]`."""

from latefusion.report.features import Features
from latefusion.report.importance import Explanation, explain_views
from latefusion.report.profiles import Trait, features_of
from latefusion.report.write import write_report

__all__ = ["Explanation", "Features", "Trait", "explain_views", "features_of", "write_report"]
