import shlex

import pytest

from latefusion.cli.main import build_parser
from latefusion.experiments.leaderboard.results import LimitEntry
from latefusion.report.leaderboard.commands import run_command

LIMITS = LimitEntry(90.0, 4096, 7, 5000)


def parsed(command):
    words = shlex.split(command)
    assert words[:2] == ["latefusion", "leaderboard"]
    return build_parser("leaderboard").parse_args(words[1:])


def test_the_command_has_the_limits_of_the_file():
    options = parsed(run_command(LIMITS))
    assert (options.seeds, options.time_limit, options.memory_limit, options.max_samples) == (7, 90, 4096, 5000)


@pytest.mark.parametrize("name", ["mfeat", "mfeat, 30 % missing", 'a\'b "c" $(d) `e` ; f | g'])
def test_names_arrive_as_they_are(name):
    options = parsed(run_command(LIMITS, "--boards", "missing", "--only", name))
    assert (options.boards, options.only) == (["missing"], [name])
