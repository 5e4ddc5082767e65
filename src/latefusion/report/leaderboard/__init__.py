"""The leaderboard as one HTML page; it needs `latefusion[report]`."""

from latefusion.report.leaderboard.write import write_leaderboard

__all__ = ["write_leaderboard"]
