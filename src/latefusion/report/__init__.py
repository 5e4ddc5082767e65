"""One self-contained HTML page from a fitted model."""

from latefusion.report.features import Features
from latefusion.report.writing import write_report

__all__ = ["Features", "write_report"]
