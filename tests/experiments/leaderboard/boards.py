"""Small result files for the tests of the leaderboard."""

from latefusion.experiments.leaderboard.results import (
    FORMAT,
    CellEntry,
    CodeEntry,
    Leaderboard,
    LimitEntry,
    MethodEntry,
    OracleEntry,
    SetEntry,
    ViewEntry,
    failed_cell,
)


def set_entry(name, board="complete", **changes):
    facts = {"n_samples": 100, "n_clusters": 3, "kind": "features", "missing": 0.0}
    return SetEntry(name, name.title(), board, **{"views": (ViewEntry("a", 4), ViewEntry("β", 5)), **facts, **changes})


def method_entry(name, family="comparison method"):
    return MethodEntry(name, f"latefusion.baselines.{name}", 2020, family, f"methods/{name.lower()}.html")


def cell_entry(dataset, method, acc, board="complete", seconds=1.5):
    values = [acc] if isinstance(acc, float) else list(acc)
    halves = [value / 2 for value in values]
    return CellEntry(
        board, dataset, method, list(range(len(values))), values, halves, halves, seconds, seconds / 2, 12.5, None
    )


def leaderboard(scores, *, board="complete", oracle=()):
    """A board from accuracies by method and data set; a text is the reason of a failure."""
    cells = [
        failed_cell((board, dataset, method), value)
        if isinstance(value, str)
        else cell_entry(dataset, method, value, board)
        for method, row in scores.items()
        for dataset, value in row.items()
    ]
    names = dict.fromkeys(cell.set for cell in cells)
    return Leaderboard(
        FORMAT,
        CodeEntry("1.0+abc", "0" * 40),
        LimitEntry(120.0, 6144, 5, 10_000),
        "2 CPU cores",
        "2026-11-19",
        [set_entry(name, board) for name in names],
        [method_entry(name) for name in scores],
        cells,
        list(oracle),
    )


def oracle_entry(dataset, method, acc):
    return OracleEntry("complete", dataset, method, acc, acc, acc, 6, {"n_neighbors": 5, "kernel": "linear"}, None)
