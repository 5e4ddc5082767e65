"""One self-contained HTML page from a fitted model; it needs `latefusion[report]`."""

from latefusion.report.features import Features
from latefusion.report.write import REPORT_STEPS, write_report

__all__ = ["REPORT_STEPS", "Features", "write_report"]
