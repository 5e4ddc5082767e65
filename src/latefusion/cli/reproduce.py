"""`latefusion reproduce`: the paper's evaluation on available data, and one without known classes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from latefusion.cli.answers import add_force_argument, add_json_argument, print_json
from latefusion.cli.arguments import file_path, positive_number
from latefusion.cli.terminal import progress
from latefusion.datasets import data_folder
from latefusion.experiments.archive import Archive, merge_archives, read_archive, write_archive
from latefusion.experiments.figures import draw_figures
from latefusion.experiments.protocol import CONTENDERS, FULL, QUICK, Cell, Effort, plan
from latefusion.experiments.report import Picture, evaluation_tables, missing_datasets, write_report
from latefusion.experiments.runner import Limits, cheapest_first, run_cells
from latefusion.experiments.sources import find_sources
from latefusion.experiments.store import ResultStore
from latefusion.experiments.summary import Summary, summarize
from latefusion.outputs import check_targets
from latefusion.outputs.targets import Kind, Target
from latefusion.tables import RENDERERS

EXAMPLES = """\
Results are stored in the output folder. An interrupted run continues from the stored results.

examples:
  latefusion reproduce --quick                                  a few minutes, on data of scikit-learn
  latefusion reproduce --data kernels --only AR10P YALE         two of the paper's data sets, from your files
  latefusion reproduce --data kernels --methods SimpleMKKM LF-MVC-GAM --jobs 4
  latefusion reproduce --no-run --format markdown               tables of the stored results
"""

# Where standard error is not a terminal, progress is written at most this often.
PROGRESS_SECONDS = 10
# With --quick, samples of the embedded sets, and most samples of a file.
QUICK_EMBEDDED = 200
QUICK_SAMPLES = 170
# What an evaluation writes into its folder. Tables and figures are named by data sets.
STORE, ARCHIVE = "results.sqlite", "archive.json"
FILES = (STORE, ARCHIVE, "results.csv", "report.html", "report.md", "tables/results.csv")
FOLDERS = ("tables", "figures")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "--data",
        type=file_path,
        help="folder of data files (default: LATEFUSION_DATA, otherwise the data sets of scikit-learn)",
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="SET", help="data sets to use, by file name or name in the paper"
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"methods to run (default: all): {', '.join(CONTENDERS)}",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small data sets, coarse grids and few restarts; takes a few minutes"
    )
    parser.add_argument(
        "--output",
        type=file_path,
        default=Path("reproduce-output"),
        help="folder for all outputs (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", type=positive_number, default=os.cpu_count() or 1, help="number of processes (default: all cores)"
    )
    parser.add_argument("--time-limit", type=float, metavar="S", help="time limit of one run, in seconds")
    parser.add_argument("--memory-limit", type=positive_number, metavar="MiB", help="memory limit of one run")
    parser.add_argument("--retry", action="store_true", help="repeat runs that failed")
    parser.add_argument(
        "--no-run", action="store_true", help="run nothing; write tables and figures of the stored results"
    )
    parser.add_argument(
        "--from",
        dest="archives",
        type=file_path,
        nargs="+",
        metavar="ARCHIVE",
        help="run nothing; write tables and figures of one or more archive.json files of earlier evaluations",
    )
    parser.add_argument("--no-figures", action="store_true", help="no figures")
    parser.add_argument(
        "--format",
        nargs="+",
        choices=list(RENDERERS),
        default=list(RENDERERS),
        help="formats of the tables (default: all)",
    )
    add_force_argument(parser)
    add_json_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Run the evaluation, or read stored results; write and print tables and figures."""
    check_targets([Target(options.output, EVALUATION, "--output")], _inputs(options), force=options.force)
    refused: dict[str, str] = {}
    if options.archives is None:
        archive, refused = _evaluate(options)
    else:
        archive = merge_archives([read_archive(path) for path in options.archives])
    file = write_archive(options.output / ARCHIVE, archive)
    report = write_report(
        options.output,
        archive.summaries,
        code=archive.code,
        effort=archive.effort,
        refused=refused,
        pictures=_figures(archive.summaries, options),
        formats=options.format,
    )
    if options.json:
        print_json({"report": str(report), "refused": refused, **json.loads(file.read_text(encoding="utf-8"))})
    else:
        _print(archive.summaries, report)


def _is_evaluation(folder: Path) -> bool:
    """Whether a folder is empty or holds the results of an earlier run."""
    return not any(folder.iterdir()) or any((folder / name).is_file() for name in (STORE, ARCHIVE))


def _evaluation_files(folder: Path) -> list[Path]:
    """Files that may be replaced: those with fixed names, and all files in the folders of tables and figures."""
    present = [file for name in FOLDERS if (folder / name).is_dir() for file in (folder / name).iterdir()]
    return [*(folder / name for name in FILES), *present]


EVALUATION = Kind("the folder of an earlier evaluation", _is_evaluation, parts=_evaluation_files)


def _inputs(options: argparse.Namespace) -> list[Path]:
    """Archives, or the data folder and the data sets in it."""
    if options.archives is not None:
        return list(options.archives)
    folder = data_folder(options.data)
    if folder is None:
        return []
    # Results may be kept in a folder of their own beside the data sets.
    return [folder, *(one for one in folder.iterdir() if one.resolve() != options.output.resolve())]


def _evaluate(options: argparse.Namespace) -> tuple[Archive, dict[str, str]]:
    """Find the data and run what is not stored yet; return the results and the data that could not be used."""
    folder = data_folder(options.data)
    bounds = {"most_embedded": QUICK_EMBEDDED, "most_samples": QUICK_SAMPLES} if options.quick else {}
    sources, refused = find_sources(folder, options.only, **bounds)
    effort = QUICK if options.quick else FULL
    cells = plan(sources, options.methods or list(CONTENDERS), effort)
    store = ResultStore(options.output / STORE)
    try:
        if not options.no_run:
            _run_cells(cells, store, options)
        summaries = summarize(cells, store.load(cells))
    finally:
        store.close()
    return Archive(store.code, _effort(effort, options), summaries), refused


def _run_cells(cells: list[Cell], store: ResultStore, options: argparse.Namespace) -> None:
    done = store.load(cells)
    waiting = cheapest_first([cell for cell in cells if cell not in done or (options.retry and done[cell].reason)])
    with progress("evaluating"):
        run_cells(waiting, store.record, jobs=options.jobs, limits=Limits(options.time_limit, options.memory_limit))


def _effort(effort: Effort, options: argparse.Namespace) -> str:
    grids = f"at most {effort.grid_values} values of every parameter" if effort.grid_values else "full grids"
    words = f"{effort.restarts} restarts and {grids} under the oracle, {effort.seeds} seeds without labels."
    limits = [f"{options.time_limit:g} s"] if options.time_limit else []
    limits += [f"{options.memory_limit} MiB"] if options.memory_limit else []
    return f"{words} Limit of one run: {' and '.join(limits)}." if limits else words


def _figures(summaries: list[Summary], options: argparse.Namespace) -> list[Picture]:
    if options.no_figures:
        return []
    try:
        return draw_figures(options.output / "figures", summaries, fits=options.archives is None)
    except ImportError as error:
        print(f"No figures: {error}", file=sys.stderr)
        return []


def _print(summaries: list[Summary], report: Path) -> None:
    tables = evaluation_tables(summaries)
    for name, table in tables.items():
        if name.startswith("data-") or (name in ("differences", "unfinished") and table.rows):
            print(table.render("text"))
    missing = missing_datasets([one.source for one in summaries])
    if missing:
        print(f"{missing}\n")
    print(f"Report: {report} (and as .html, with tables, figures and all results, in the same folder)")
