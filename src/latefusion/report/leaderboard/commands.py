"""The commands that compute the results of the leaderboard again."""

from __future__ import annotations

import shlex

from latefusion.experiments.leaderboard.results import LimitEntry

COMMAND = "latefusion leaderboard"


def run_command(limits: LimitEntry, *words: str) -> str:
    """The command that runs all cells, or those that further words choose.

    Parameters
    ----------
    limits : LimitEntry
    *words : str
        Options of the command and their values.

    Returns
    -------
    str
        For a shell. The folder of the data is a placeholder.
    """
    numbers = {
        "--seeds": limits.seeds,
        "--time-limit": round(limits.seconds),
        "--memory-limit": limits.memory_mib,
        "--max-samples": limits.max_samples,
    }
    options = [str(one) for pair in numbers.items() for one in pair]
    return f"{COMMAND} --data FOLDER {shlex.join([*words, *options])}"
