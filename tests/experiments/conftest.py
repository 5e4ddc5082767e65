"""A small evaluation that was really run, shared by the tests of what is made from it."""

import pytest

from latefusion.experiments.protocol import Effort, evaluate, plan
from latefusion.experiments.sources import find_sources
from latefusion.experiments.store import Outcome
from latefusion.experiments.summary import summarize

METHODS = ["A-MKKM", "SB-KKM", "RMKKM", "LF-MVC-GAM", "LF-MVC-LAM"]
SMALL = Effort(restarts=6, seeds=5, grid_values=3)


@pytest.fixture(scope="session")
def small_source():
    return find_sources(None, ["planted"], most_embedded=60).sources[0]


@pytest.fixture(scope="session")
def small_cells(small_source):
    return plan([small_source], METHODS, SMALL)


@pytest.fixture(scope="session")
def small_outcomes(small_cells):
    return {cell: Outcome(0.5, evaluate(cell)) for cell in small_cells}


@pytest.fixture(scope="session")
def small_summaries(small_cells, small_outcomes):
    return summarize(small_cells, small_outcomes)
