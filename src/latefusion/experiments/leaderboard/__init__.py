"""The leaderboard: all methods on all data sets with default parameters and without classes."""

from latefusion.experiments.leaderboard.results import (
    Leaderboard,
    merge_leaderboards,
    read_leaderboard,
    write_leaderboard,
)

__all__ = ["Leaderboard", "merge_leaderboards", "read_leaderboard", "write_leaderboard"]
