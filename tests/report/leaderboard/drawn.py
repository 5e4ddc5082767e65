"""Result files with drawn scores: the page shows what is in the file, whatever it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from latefusion.experiments.leaderboard.results import FAMILIES, CellEntry, failed_cell
from tests.experiments.leaderboard.boards import leaderboard, method_entry, oracle_entry, set_entry

SIZES = (60, 400, 900, 1500, 4000, 9000)
KINDS = ("features", "kernels")
REASON = "took more than 120 s"
INCOMPLETE = "View 'a' is missing for some samples."
NASTY = "</script><script>alert('x')</script>\u2028<!-- & \" onmouseover=\"alert(4)"


def drawn_results(n_methods=12, n_sets=9, *, failing=0.15, seed=0, missing=0, rename=lambda name: name):
    """Methods of all families on complete views, and on missing views if some sets are wanted; some cells failed."""
    rng = np.random.default_rng(seed)
    names = [rename(f"method {one}") for one in range(n_methods)]
    methods = [method_entry(name, FAMILIES[one % len(FAMILIES)]) for one, name in enumerate(names)]
    boards = {"complete": n_sets, "missing": missing}
    sets, cells, oracle = [], [], []
    for board, number in boards.items():
        for one in range(number):
            name = rename(f"{board} set {one}")
            facts = {"n_samples": SIZES[one % len(SIZES)] + one, "kind": KINDS[one % 2]}
            sets.append(replace(set_entry(name, board, missing=0.3 * (board == "missing"), **facts), title=name))
            for place, method in enumerate(names):
                key = (board, name, method)
                if board == "missing" and place % 3 == 2:
                    cells.append(failed_cell(key, rename(INCOMPLETE)))
                elif place and rng.random() < failing:  # the first method, one of ours, has all results
                    cells.append(failed_cell(key, rename(REASON)))
                else:
                    cells.append(_drawn_cell(key, rng, 0.5 + 0.02 * (n_methods - place) / n_methods))
                    if board == "complete" and place % 2:
                        oracle.append(oracle_entry(name, method, 0.9 + one / 1000))
    empty = leaderboard({})
    return replace(empty, methods=methods, sets=sets, cells=cells, oracle=oracle, machine=rename(empty.machine))


def _drawn_cell(key, rng, level):
    scores = np.round(np.clip(rng.normal(level, 0.05, (3, 5)), 0, 1), 6).tolist()
    seconds, cpu, peak = np.round(rng.exponential([2.0, 1.5, 300.0]), 4).tolist()
    return CellEntry(*key, list(range(5)), *scores, seconds, cpu, peak, None)
