"""One self-contained HTML page from a fitted model."""

from latefusion.report.writing import write_report

__all__ = ["write_report"]
