"""Self-contained HTML pages about a fitted model and the leaderboard; they need `latefusion[report]`."""

from latefusion.report.leaderboard import write_leaderboard
from latefusion.report.show import Report, show
from latefusion.report.write import write_report

__all__ = ["Report", "show", "write_leaderboard", "write_report"]
