"""One self-contained HTML page from a fitted model; it needs `latefusion[report]`."""

from latefusion.report.features import Features
from latefusion.report.importance import Explanation, explain_views
from latefusion.report.write import write_report

__all__ = ["Explanation", "Features", "explain_views", "write_report"]
