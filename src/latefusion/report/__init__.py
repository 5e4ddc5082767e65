"""One self-contained HTML page from a fitted model."""

from latefusion.report.features import Features
from latefusion.report.writing import REPORT_STEPS, write_report

__all__ = ["REPORT_STEPS", "Features", "write_report"]
