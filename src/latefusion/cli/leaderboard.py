"""`latefusion leaderboard`: all methods on all data sets at hand, with default parameters and without classes."""

from __future__ import annotations

import argparse
import datetime
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from latefusion.cli.answers import add_force_argument, add_json_argument, print_json
from latefusion.cli.arguments import file_path, positive_number
from latefusion.cli.terminal import progress
from latefusion.datasets import data_folder
from latefusion.experiments.leaderboard.checking import Difference, cells_to_check, differences
from latefusion.experiments.leaderboard.evaluation import BoardCell, Run, evaluate_cell
from latefusion.experiments.leaderboard.machine import commit, machine
from latefusion.experiments.leaderboard.methods import Entrant, entrants, find_entrants
from latefusion.experiments.leaderboard.oracle import (
    OracleCell,
    OraclePoint,
    evaluate_oracle,
    oracle_entries,
    plan_oracle,
    reused_oracle,
)
from latefusion.experiments.leaderboard.planning import Skipping, cell_entries, part_of, plan
from latefusion.experiments.leaderboard.problems import BoardSet
from latefusion.experiments.leaderboard.results import (
    BOARDS,
    FORMAT,
    SCORES,
    CodeEntry,
    Leaderboard,
    LimitEntry,
    OracleEntry,
    merge_leaderboards,
    read_leaderboard,
    write_leaderboard,
)
from latefusion.experiments.leaderboard.reuse import Reused, reused_outcomes
from latefusion.experiments.leaderboard.sets import find_sets
from latefusion.experiments.leaderboard.tables import head_table, standing_of, tally_table
from latefusion.experiments.outside_methods import refused_methods
from latefusion.experiments.protocol import OURS
from latefusion.experiments.runner import Limits, run_cells
from latefusion.experiments.store import Outcome, ResultStore, code_version
from latefusion.outputs import check_targets
from latefusion.outputs.targets import REPORT, Kind, Target
from latefusion.report import write_leaderboard as write_page
from latefusion.report.html import require_jinja2
from latefusion.results import ResultTable
from latefusion.tables import format_table
from latefusion.version import __version__

EXAMPLES = """\
Methods get the views as they are, the number of classes and their default parameters. Classes are used for scores only.
Results are stored in the output folder. An interrupted run continues from the stored results.

examples:
  latefusion leaderboard --data folder other/set.npz            all methods on all data sets
  latefusion leaderboard --methods SNF NEMO --only digits       some cells only
  latefusion leaderboard --data folder --part 1/2 --output one  half of the cells, then on another machine 2/2
  latefusion leaderboard --from one/leaderboard.json two/leaderboard.json
  latefusion leaderboard --from leaderboard.json --page leaderboard.html
  latefusion leaderboard --data folder --reuse leaderboard.json  run what an earlier result file lacks
  latefusion leaderboard --check submitted.json --data folder   run a tenth of its cells again
"""

AnyCell = TypeVar("AnyCell", BoardCell, OracleCell)
STORE, RESULTS = "leaderboard.sqlite", "leaderboard.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "--data",
        type=file_path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="folders of data sets, or single files; the data sets of scikit-learn are always used",
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="SET", help="data sets to use (default: all)")
    parser.add_argument(
        "--boards",
        nargs="+",
        choices=BOARDS,
        default=list(BOARDS),
        help="complete views, missing views, many samples, or given clusterings (default: all)",
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"methods to run (default: all): {', '.join(entrants())}",
    )
    parser.add_argument(
        "--output",
        type=file_path,
        default=Path("leaderboard-output"),
        help="folder for all outputs (default: %(default)s)",
    )
    parser.add_argument("--seeds", type=positive_number, default=5, help="number of seeds (default: %(default)s)")
    parser.add_argument(
        "--time-limit",
        type=positive_number,
        default=120,
        metavar="S",
        help="limit of all seeds of one method on one data set, in seconds (default: %(default)s)",
    )
    parser.add_argument(
        "--memory-limit", type=positive_number, default=6144, metavar="MiB", help="default: %(default)s"
    )
    parser.add_argument(
        "--max-samples",
        type=positive_number,
        default=10_000,
        metavar="N",
        help="data sets with more samples are on the board 'large' (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", type=positive_number, default=os.cpu_count() or 1, help="number of processes (default: all cores)"
    )
    parser.add_argument("--part", type=_part, metavar="I/N", help="run the I-th of N shares of the methods")
    parser.add_argument(
        "--oracle",
        type=positive_number,
        default=0,
        metavar="N",
        help="also compute the best scores over at most N points of the grid of parameters of every method, selected "
        "with the classes: an upper bound, which is stored beside the results and never ranked",
    )
    parser.add_argument("--retry", action="store_true", help="repeat cells that failed")
    parser.add_argument("--no-run", action="store_true", help="run nothing; write and print the stored results")
    parser.add_argument(
        "--from",
        dest="files",
        type=file_path,
        nargs="+",
        metavar="FILE",
        help=f"run nothing; merge the {RESULTS} files of several runs",
    )
    parser.add_argument(
        "--page", type=file_path, metavar="FILE", help="HTML page of all boards (needs latefusion[report])"
    )
    parser.add_argument(
        "--reuse",
        type=file_path,
        metavar="FILE",
        help="take the cells of an earlier result file whose method, data, limits and seeds are unchanged, and run the "
        "others; unlike --from, which copies all cells as they are",
    )
    parser.add_argument(
        "--check",
        type=file_path,
        metavar="FILE",
        help="run a random share of the cells of a result file again, and list the scores that differ",
    )
    parser.add_argument(
        "--share", type=_share, default=0.1, help="share of the cells for --check (default: %(default)s)"
    )
    add_force_argument(parser)
    add_json_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Run the cells that are not stored yet, or merge or check result files; write and print the boards."""
    if options.check is not None:
        _check(options)
        return
    _check_outputs(options)
    refused: dict[str, str] = {}
    if options.files is None:
        board, refused = _evaluate(options)
    else:
        board = merge_leaderboards([read_leaderboard(path) for path in options.files])
    file = write_leaderboard(options.output / RESULTS, board)
    if options.page is not None:
        # From the file, whose scores are rounded, so that the page can be written again from it.
        write_page(options.page, read_leaderboard(file), force=options.force)
    if options.json:
        written = {"file": str(file), "page": options.page and str(options.page), "refused": refused}
        print_json({**written, **json.loads(file.read_text(encoding="utf-8"))})
        return
    for name, reason in refused.items():
        print(f"{name} is not used: {reason}")
    _print(board)
    print(f"All results: {file}")
    if options.page is not None:
        print(f"Page: {options.page}")


def _check_outputs(options: argparse.Namespace) -> None:
    """Raise an error, before any computation, for outputs that cannot be written or would replace other files."""
    targets = [Target(options.output, LEADERBOARD, "--output")]
    if options.page is not None:
        require_jinja2()
        targets.append(Target(options.page, REPORT, "--page"))
    inputs = options.files if options.files is not None else _data_files(options)
    inputs = [*inputs, *([] if options.reuse is None else [options.reuse])]
    check_targets(targets, inputs, force=options.force)


def _is_leaderboard(folder: Path) -> bool:
    """Whether a folder is empty or holds the results of an earlier run."""
    return not any(folder.iterdir()) or any((folder / name).is_file() for name in (STORE, RESULTS))


LEADERBOARD = Kind(
    "the folder of an earlier leaderboard",
    _is_leaderboard,
    parts=lambda folder: [folder / name for name in (STORE, RESULTS)],
)


def _data_files(options: argparse.Namespace) -> list[Path]:
    """Files and folders of data, and the data sets in the folders."""
    paths = _data_paths(options)
    return [*paths, *(file for path in paths if path.is_dir() for file in path.iterdir() if file.is_file())]


def _data_paths(options: argparse.Namespace) -> list[Path]:
    folder = data_folder(None)
    return list(options.data) or ([] if folder is None else [folder])


def _evaluate(options: argparse.Namespace) -> tuple[Leaderboard, dict[str, str]]:
    """Find the data and run what is not stored yet; return the results, and what cannot be used by name."""
    limits = LimitEntry(float(options.time_limit), options.memory_limit, options.seeds, options.max_samples)
    with progress("reading"):
        sets, refused = find_sets(
            _data_paths(options), options.boards, only=options.only, max_samples=options.max_samples
        )
    methods = find_entrants(options.methods)
    cells = plan(sets, methods, limits)
    if options.part is not None:
        cells = part_of(cells, *options.part)
    earlier = None if options.reuse is None else read_leaderboard(options.reuse)
    machines: list[str] = []
    store = ResultStore(options.output / STORE, code=__version__, point=Run)
    try:
        outcomes = store.load(cells)
        if earlier is not None and _reuse(reused_outcomes(earlier, cells, limits), outcomes, store, options):
            machines = earlier.machine.split("; ")
        if not options.no_run:
            _run_cells(cells, outcomes, store, options)
    finally:
        store.close()
    oracle = _oracle(cells, earlier, options) if options.oracle else []
    machines = list(dict.fromkeys([*machines, machine()]))
    if not options.methods:
        refused |= refused_methods()
    board = _leaderboard(sets, methods, cells, outcomes, limits, machines)
    return replace(board, oracle=oracle), refused


def _reuse(
    earlier: Reused, outcomes: dict[BoardCell, Outcome], store: ResultStore, options: argparse.Namespace
) -> bool:
    """Add the outcomes of an earlier file for cells that are not stored; return whether there are any."""
    added = {cell: outcome for cell, outcome in earlier.outcomes.items() if cell not in outcomes}
    for cell, outcome in added.items():
        store.record(cell, outcome)
    outcomes |= added
    if not options.json:
        print(f"{len(earlier.outcomes)} of {earlier.n_results} cells of {options.reuse} are reused.", flush=True)
    return bool(added)


def _run_cells(
    cells: Sequence[AnyCell],
    outcomes: dict[AnyCell, Outcome],
    store: ResultStore,
    options: argparse.Namespace,
    work: Callable[[Any], Iterable[Any]] = evaluate_cell,
) -> None:
    """Run the cells without an outcome, and those that failed if they are to be repeated."""
    if options.retry:
        for cell in [cell for cell, outcome in outcomes.items() if outcome.reason]:
            del outcomes[cell]
    skipping = Skipping(outcomes)

    def record(cell: AnyCell, outcome: Outcome) -> None:
        store.record(cell, outcome)
        outcomes[cell] = outcome

    with progress("running"):
        run_cells(
            [cell for cell in cells if cell not in outcomes],
            record,
            jobs=options.jobs,
            limits=Limits(options.time_limit, options.memory_limit),
            work=work,
            skip=lambda cell: bool(skipping.reason(cell)),
            threads=1,
            fresh=True,
        )


def _oracle(cells: list[BoardCell], earlier: Leaderboard | None, options: argparse.Namespace) -> list[OracleEntry]:
    """The best scores over grids of parameters: those of an earlier file, of the store, and of new runs."""
    planned = plan_oracle(cells, options.oracle)
    reused = {} if earlier is None else {one.key: one for one in reused_oracle(earlier, planned)}
    if options.retry:
        reused = {key: one for key, one in reused.items() if one.reason is None}
    due = [cell for cell in planned if cell.place not in reused]
    store = ResultStore(options.output / STORE, code=__version__, point=OraclePoint)
    try:
        outcomes = store.load(due)
        if not options.no_run:
            _run_cells(due, outcomes, store, options, evaluate_oracle)
    finally:
        store.close()
    found = {one.key: one for one in oracle_entries(due, outcomes)} | reused
    return [found[cell.place] for cell in planned]


def _leaderboard(
    sets: Sequence[BoardSet],
    methods: Sequence[Entrant],
    cells: Sequence[BoardCell],
    outcomes: dict[BoardCell, Outcome],
    limits: LimitEntry,
    machines: Sequence[str],
) -> Leaderboard:
    run, places = {cell.method for cell in cells}, {cell.place[:2] for cell in cells}
    return Leaderboard(
        FORMAT,
        CodeEntry(code_version(), commit()),
        limits,
        "; ".join(machines),
        datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        [replace(one.entry, checksum=one.checksum) for one in sets if (one.entry.board, one.name) in places],
        [method.entry for method in methods if method.name in run],
        cell_entries(cells, outcomes),
        [],
    )


def _check(options: argparse.Namespace) -> None:
    """Run some cells of a submitted file again; an error if any score differs."""
    board = read_leaderboard(options.check)
    with progress("reading"):
        sets = find_sets(_data_paths(options), BOARDS, max_samples=board.limits.max_samples).sets
    known = {method.name for method in board.methods} & {*entrants()}
    cells = cells_to_check(board, sets, find_entrants(sorted(known)), options.share, None)
    outcomes: dict[BoardCell, Outcome] = {}
    with progress("checking"):
        run_cells(
            list(cells),
            outcomes.__setitem__,
            jobs=options.jobs,
            limits=Limits(board.limits.seconds, board.limits.memory_mib),
            work=evaluate_cell,
            threads=1,
            fresh=True,
        )
    found = differences(cells, outcomes)
    n_scores = sum(len(SCORES) * len(entry.seeds) for entry in cells.values())
    if options.json:
        print_json({"cells": len(cells), "scores": n_scores, "differences": [one._asdict() for one in found]})
    elif found:
        print(ResultTable({name: [getattr(one, name) for one in found] for name in Difference._fields}))
    if found:
        first = found[0]
        raise ValueError(
            f"{len(found)} of {n_scores} scores of {len(cells)} cells differ from those in the file, the first one for "
            f"{first.method} on {first.set!r} (board {first.board!r}, seed {first.seed}): {first.score} "
            f"{first.submitted:g}, found {first.reason if first.found is None else format(first.found, 'g')}."
        )
    if not options.json:
        print(f"All {n_scores} scores of {len(cells)} cells are the same.")


def _print(board: Leaderboard) -> None:
    for name in BOARDS:
        standing = standing_of(board, name)
        if standing.methods:
            _print_table(head_table(standing))
        if OURS in standing.methods and len(standing.methods) > 1:
            _print_table(tally_table(standing, OURS))


def _print_table(table: ResultTable) -> None:
    """Print all rows, and the notes."""
    print("\n".join([format_table(*table.shown_cells(len(table))), "", *table.notes, *[""] * bool(table.notes)]))


def _part(text: str) -> tuple[int, int]:
    first, slash, last = text.partition("/")
    if not (slash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise argparse.ArgumentTypeError(f"must be I/N with 1 <= I <= N, such as 1/2, got {text!r}")
    return int(first), int(last)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"must be a number > 0 and <= 1, got {text!r}")
    return share
