"""One self-contained HTML page from a fitted model; it needs `latefusion[report]`."""

from latefusion.report.show import Report, show
from latefusion.report.write import write_report

__all__ = ["Report", "show", "write_report"]
