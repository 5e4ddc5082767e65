"""Methods of other packages on the sets of a leaderboard, each in its own environment, as cells that merge with it.

usage: python benchmarks/peer_board.py LEADERBOARD.json --data PATH ... --output FILE.json [--only NAME ...]
       [--sets NAME ...] [--boards complete missing] [--environments .venv-peers]
then:  latefusion leaderboard --from LEADERBOARD.json FILE.json --output FOLDER

Data sets, classes, seeds and limits are those of the leaderboard. Every method gets the views as they are, dense, in
double precision, with NaN in missing rows, one thread, the number of classes, a seed and its own defaults. The code of
the leaderboard computes the scores. The time limit counts from the end of the imports. A cell of an existing output
whose environment and data are the same is not run again. A failure becomes the reason of the cell.

Environments are created on the first run with the versions below, and of benchmarks/peers.py. With Python 3.11 all of
them install from PyPI (November 2026), with these exceptions:

- mvlearn 0.5.0 requires matplotlib <= 3.3.4, which does not build on Python 3.11. Installed with ``--no-deps``.
- snfpy 0.2.2 calls scikit-learn with an argument that 1.8 removed. Installed with scikit-learn 1.5.2 and NumPy 1.26.
- iMML 0.6.0 installs; its OSLFIMVC and MKKMIK need GNU Octave, and fail without it.
- polyview 0.1.0 and umap-learn 0.5.12 install as they are. UMAP is no clusterer: its embedding of the standardized
  columns of all views, with its defaults, is clustered by k-means. MultiViewNMF of polyview has no number of clusters.
- The two lines of scikit-learn need no environment: views divided by the root of their width, side by side.
- Left out: muon (WNN takes minutes for 2000 samples, and has no number of clusters), MOFA and CCA (no clusterers).
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import peers
from measuring import machine, version_of, with_peak_memory

# Seconds for the imports of a package, beside the limit of the cell.
IMPORTS = 180
MIB = 2**20
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PACKAGES = [*peers.CURRENT]
ENVIRONMENTS = {
    **peers.ENVIRONMENTS,
    "polyview 0.1.0": [[*PACKAGES, "polyview==0.1.0"]],
    "umap-learn 0.5.12": [[*PACKAGES, "umap-learn==0.5.12"]],
}


class Peer(NamedTuple):
    """A method of another package, the year of its publication, and whether samples may lack views."""

    environment: str
    class_name: str
    year: int | None
    load: object
    takes_missing_views: bool = False


def clusterer(environment, module, name, year, *, missing=False):
    """A class with ``fit_predict`` of a list of views."""
    return Peer(environment, f"{module}.{name}", year, peers.estimator(module, name), missing)


def embedded_by_umap():
    """UMAP of the standardized columns of all views, then k-means."""
    umap = importlib.import_module("umap")
    cluster = importlib.import_module("sklearn.cluster")

    def run(views, n_clusters, seed):
        table = np.hstack([peers.standardized(view) for view in views])
        embedding = umap.UMAP(random_state=seed, n_jobs=1).fit_transform(table)
        return cluster.KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(embedding)

    return run


# Of this environment.
SKLEARN = f"scikit-learn {version_of('scikit-learn')}"
SPECTRAL = {"affinity": "nearest_neighbors", "n_neighbors": 20}
MVLEARN, IMML, POLYVIEW = "mvlearn 0.5.0", "iMML 0.6.0", "polyview 0.1.0"
PEERS = {
    "KMeans, scaled views": Peer(SKLEARN, "sklearn.cluster.KMeans", None, peers.concatenated("KMeans", n_init=10)),
    "Spectral, scaled views": Peer(
        SKLEARN, "sklearn.cluster.SpectralClustering", None, peers.concatenated("SpectralClustering", **SPECTRAL)
    ),
    "mvlearn KMeans": clusterer(MVLEARN, "mvlearn.cluster", "MultiviewKMeans", 2004),
    "mvlearn CoRegSpectral": clusterer(MVLEARN, "mvlearn.cluster", "MultiviewCoRegSpectralClustering", 2011),
    "mvlearn Spectral": clusterer(MVLEARN, "mvlearn.cluster", "MultiviewSpectralClustering", 2011),
    "iMML LFIMVC": clusterer(IMML, "imml.cluster", "LFIMVC", 2019, missing=True),
    "iMML EEIMVC": clusterer(IMML, "imml.cluster", "EEIMVC", 2021, missing=True),
    "iMML NEMO": clusterer(IMML, "imml.cluster", "NEMO", 2019, missing=True),
    "iMML OPIMC": clusterer(IMML, "imml.cluster", "OPIMC", 2019, missing=True),
    "iMML SIMCADC": clusterer(IMML, "imml.cluster", "SIMCADC", 2022, missing=True),
    "iMML OSLFIMVC": clusterer(IMML, "imml.cluster", "OSLFIMVC", 2021, missing=True),
    "iMML MKKMIK": clusterer(IMML, "imml.cluster", "MKKMIK", 2020, missing=True),
    "polyview KMeans": clusterer(POLYVIEW, "polyview.cluster", "MultiViewKMeans", 2013),
    "polyview CoRegSpectral": clusterer(POLYVIEW, "polyview.cluster", "MultiViewCoRegSpectralClustering", 2011),
    "polyview CoTrainSpectral": clusterer(POLYVIEW, "polyview.cluster", "MultiViewCoTrainSpectralClustering", 2011),
    "snfpy SNF": Peer("snfpy 0.2.2", "snf.snf", 2014, peers.similarity_network_fusion),
    "UMAP, k-means": Peer("umap-learn 0.5.12", "umap.UMAP", 2018, embedded_by_umap),
}


# In the environment of a package.


def fit_all(name, problem, folder, memory):
    """Run one method in this process for every seed, and leave labels and figures of each in a file."""
    run = PEERS[name].load()
    with np.load(problem) as content:
        arrays = [content[f"view_{position}"] for position in range(int(content["n_views"]))]
        masks, seeds = content["observed"], content["seeds"]
        n_clusters, limit = int(content["n_clusters"]), float(content["seconds"])
    limit_memory(memory)
    signal.setitimer(signal.ITIMER_REAL, limit)  # its signal ends the process
    begin = time.monotonic()
    for done, (seed, observed) in enumerate(zip(seeds.tolist(), masks, strict=True)):
        views = [np.where(own[:, None], view, np.nan) for view, own in zip(arrays, observed.T, strict=True)]
        (labels, seconds, cpu), peak = with_peak_memory(
            lambda views=views, seed=seed: timed(run, views, n_clusters, seed)
        )
        np.savez(Path(folder) / f"{done}.npz", labels=labels, figures=[seconds, cpu, peak])
        if (time.monotonic() - begin) * (done + 2) / (done + 1) > limit:
            return


def timed(run, views, n_clusters, seed):
    """Labels, seconds and seconds of the processor."""
    start, cpu_start = time.perf_counter(), time.process_time()
    labels = np.asarray(run(views, n_clusters, seed)).ravel().astype(np.int64)
    return labels, time.perf_counter() - start, time.process_time() - cpu_start


def limit_memory(memory):
    """Limit the memory of this process to so many MiB more than it has."""
    resource = importlib.import_module("resource")
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + memory * MIB,) * 2)


# In the environment of latefusion.


def outcome_of(cell, python):
    """Run one cell in the environment of its package; its runs, and why it ended early."""
    from latefusion.experiments.runner import OUT_OF_MEMORY, TOOK_TOO_LONG
    from latefusion.experiments.store import Outcome

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        targets = write_problem(cell, folder / "problem.npz")
        command = [python, __file__, "--child", cell.method, str(folder / "problem.npz"), place, str(cell.memory)]
        begin, reason = time.monotonic(), ""
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=cell.seconds + IMPORTS, env=ONE_THREAD
            )
        except subprocess.TimeoutExpired:
            reason = f"{TOOK_TOO_LONG} {cell.seconds:g} s"
        else:
            lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
            if done.returncode == -signal.SIGALRM:
                reason = f"{TOOK_TOO_LONG} {cell.seconds:g} s"
            elif done.returncode < 0:
                reason = f"crashed (signal {-done.returncode})"
            elif done.returncode:
                reason = lines[-1] if lines else f"crashed (exit code {done.returncode})"
                reason = f"{OUT_OF_MEMORY}: {reason}" if "MemoryError" in reason else reason
        try:
            runs = read_runs(cell, folder, targets)
        except ValueError as error:
            runs, reason = [], f"ValueError: {error}"
        return Outcome(time.monotonic() - begin, runs, reason)


def write_problem(cell, path):
    """Write views, masks and limits of all seeds; the classes of every seed, which the method does not get."""
    problems = [cell.source.problem(seed) for seed in (cell.seeds if cell.source.rate else cell.seeds[:1])]
    whole = cell.source.problem(cell.seeds[0]) if not cell.source.rate else replace(cell.source, rate=0.0).problem(0)
    arrays = {f"view_{position}": dense(view) for position, view in enumerate(whole.views.arrays)}
    masks = [one.views.observed for one in problems]
    masks, targets = (
        [*some, *some[-1:] * (len(cell.seeds) - len(some))] for some in (masks, [one.target for one in problems])
    )
    facts = {"n_views": len(arrays), "n_clusters": cell.source.entry.n_clusters, "seconds": cell.seconds}
    np.savez(path, observed=np.array(masks), seeds=cell.seeds, **facts, **arrays)
    return targets


def dense(view):
    """A view as an array of numbers in double precision."""
    return np.asarray(view.toarray() if hasattr(view, "toarray") else view, dtype=np.float64)


def read_runs(cell, folder, targets):
    """The seeds that were finished, with their scores."""
    from latefusion.experiments.leaderboard.evaluation import Run, scores

    runs = []
    for position, (seed, target) in enumerate(zip(cell.seeds, targets, strict=True)):
        path = folder / f"{position}.npz"
        if path.exists():
            with np.load(path) as found:
                seconds, cpu, peak = found["figures"].tolist()
                runs.append(Run(seed, *scores(target, found["labels"]), seconds, cpu, peak))
    return runs


def refusal(peer, entry):
    """Why a method cannot run on a data set, whatever its size; empty if it can."""
    from latefusion.experiments.leaderboard.methods import NEEDS_FEATURES, NO_MISSING_VIEWS

    if entry.missing and not peer.takes_missing_views:
        return NO_MISSING_VIEWS
    return NEEDS_FEATURES if entry.kind != "features" else ""


def skipped(cell, outcomes):
    """Why a cell would exceed a limit: it did on a smaller data set; empty if it did not."""
    from latefusion.experiments.leaderboard.planning import exceeded_limit, is_smaller

    for other, outcome in outcomes.items():
        limit = exceeded_limit(outcome)
        alike = other.method == cell.method and is_smaller(other.source.entry, cell.source.entry)
        if alike and limit and not outcome.points:
            return f"exceeded the {limit} on {other.source.name}, which is smaller"
    return ""


def cells_of(board, sets, names):
    """All cells, those of small data sets first."""
    from latefusion.experiments.leaderboard.evaluation import BoardCell

    limits = board.limits
    seeds = tuple(range(limits.seeds))
    ordered = sorted(sets, key=lambda one: (one.n_samples**2 * len(one.entry.views), one.entry.n_columns, one.name))
    return [
        BoardCell(one, name, seeds, limits.seconds, limits.memory_mib, PEERS[name].environment)
        for one in ordered
        for name in names
    ]


def board_of(board, sets, entries):
    """The cells as a result file that merges with the leaderboard."""
    from latefusion.experiments.leaderboard.results import MethodEntry

    places, names = {entry.key[:2] for entry in entries}, {entry.method for entry in entries}
    return replace(
        board,
        machine=machine(),
        created=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        sets=[replace(one.entry, checksum=one.checksum) for one in sets if (one.entry.board, one.name) in places],
        methods=[
            MethodEntry(name, one.class_name, one.year, "outside", None) for name, one in PEERS.items() if name in names
        ],
        cells=entries,
        oracle=[],
    )


def earlier_entries(output, board):
    """Cells of an existing output for the same code and limits, by place."""
    from latefusion.experiments.leaderboard.results import read_leaderboard

    if not output.exists():
        return {}
    earlier = read_leaderboard(output)
    if (earlier.code, earlier.limits) != (board.code, board.limits):
        raise SystemExit(f"{output} belongs to a leaderboard of other code or limits. Choose another --output.")
    checksums = {(one.board, one.name): one.checksum for one in earlier.sets}
    return {entry.key: (entry, checksums[entry.key[:2]]) for entry in earlier.cells if entry.code}


def run_board(board, sets, args):
    """Run all cells one after the other, and write the file after each."""
    from latefusion.experiments.leaderboard.planning import cell_entries
    from latefusion.experiments.leaderboard.results import failed_cell, write_leaderboard
    from latefusion.experiments.leaderboard.reuse import outcome_of_entry

    known, pythons, outcomes, entries = earlier_entries(args.output, board), {}, {}, {}
    cells = cells_of(board, sets, args.only)
    for cell in cells:
        entry, checksum = known.get(cell.place, (None, None))
        if entry is not None and (entry.code, checksum) == (cell.code, cell.source.checksum):
            outcomes[cell], entries[cell.place] = outcome_of_entry(cell, entry), entry
    for cell in cells:
        if cell.place in entries:
            continue
        reason = refusal(PEERS[cell.method], cell.source.entry) or skipped(cell, outcomes)
        if not reason and cell.code not in pythons:
            pythons[cell.code] = python_of(cell.code, args.environments)
        if not reason and pythons[cell.code].startswith("does not install"):
            reason = pythons[cell.code]
        if reason:
            entries[cell.place] = failed_cell(cell.place, reason)
        else:
            outcomes[cell] = outcome_of(cell, pythons[cell.code])
            (entries[cell.place],) = cell_entries([cell], outcomes)
        entry = entries[cell.place]
        score = f"ACC {np.mean(entry.acc):.3f}, {entry.seconds:.2f} s" if entry.seeds else entry.reason
        print(f"{cell.source.name}, {cell.method}: {score}", flush=True)
        write_leaderboard(
            args.output, board_of(board, sets, [entries[one.place] for one in cells if one.place in entries])
        )


def python_of(environment, folder):
    """Python of an environment, or why there is none."""
    if environment == SKLEARN:
        return sys.executable
    peers.ENVIRONMENTS.update(ENVIRONMENTS)
    try:
        return peers.interpreter(environment, folder)
    except RuntimeError as error:
        return f"does not install: {error}"


def main():
    """Read the leaderboard, find its data sets, run the methods."""
    if sys.argv[1:2] == ["--child"]:
        name, problem, folder, memory = sys.argv[2:]
        fit_all(name, problem, folder, int(memory))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leaderboard", type=Path)
    parser.add_argument("--data", type=Path, nargs="+", default=[])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS), metavar="NAME")
    parser.add_argument("--sets", nargs="+", default=[], metavar="NAME")
    parser.add_argument(
        "--boards", nargs="+", default=["complete", "missing"], choices=["complete", "missing", "large"]
    )
    parser.add_argument("--environments", type=Path, default=Path(".venv-peers"))
    args = parser.parse_args()
    from latefusion.experiments.leaderboard.results import read_leaderboard
    from latefusion.experiments.leaderboard.sets import find_sets

    board = read_leaderboard(args.leaderboard)
    there = {(one.board, one.name): one.checksum for one in board.sets}
    found = find_sets(args.data, args.boards, only=args.sets, max_samples=board.limits.max_samples).sets
    sets = [one for one in found if (one.entry.board, one.name) in there]
    changed = [one.name for one in sets if there[one.entry.board, one.name] not in (None, one.checksum)]
    if changed or not sets:
        raise SystemExit(f"The leaderboard has other data: {', '.join(changed) or 'no set that is at hand'}.")
    run_board(board, sets, args)


if __name__ == "__main__":
    main()
