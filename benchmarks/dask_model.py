"""The cost model of global alignment on Dask: its constants, measured; against runs; and what follows for more samples.

    python benchmarks/dask_model.py --folder FOLDER --output benchmarks/results/dask_model.json

Needs the extra `dask`. Takes the work of every pass from a fit of one chunk of the views of `dask_scaling.py` (77 MB,
written to FOLDER once), and measures it alone in one thread: what a row costs a core. Then compares seconds by the
model with those in the results of `dask_scaling.py`, and extrapolates to 10⁹ and 10¹¹ rows, with the assumptions below.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path

import dask
import zarr

import measuring
from dask_scaling import CHUNK, FIT, N_CLUSTERS, N_VIEWS, NAMES, WIDTH, chunked, write_views
from latefusion import distributed
from latefusion.distributed import chunks
from latefusion.distributed.passes import FAN_IN, KEPT_SHARE
from latefusion.distributed.stores import chunked_views

ROW_BYTES = N_VIEWS * WIDTH * 4
RESULTS = Path(__file__).parent / "results"
# What is assumed of clusters that nobody here has. "iterations" are those of k-means.
ASSUMED = {"seconds_per_task": 0.001, "iterations": 3}
CLUSTERS = [
    {"rows": 1e9, "rows_per_piece": 2e5, "cores": 32, "gib_per_core": 8, "storage_gb_per_second": 5},
    {"rows": 1e11, "rows_per_piece": 2e6, "cores": 1000, "gib_per_core": 16, "storage_gb_per_second": 200},
]


def noted_work(paths):
    """What every pass does with a piece, by the name of the pass, from a fit of one chunk; and the fitted model."""
    work, tasks = {}, chunks.ChunkedViews.tasks

    def note(self, function, plan, name, *indices):
        work.setdefault(re.sub(r"^latefusion-|-[0-9a-f]+$", "", name), []).append((function, plan))
        return tasks(self, function, plan, name, *indices)

    chunks.ChunkedViews.tasks = note
    try:
        with dask.config.set(scheduler="sync"):
            model = distributed.GlobalAlignmentClustering(**FIT).fit(chunked(paths, CHUNK))
    finally:
        chunks.ChunkedViews.tasks = tasks
    return work, model


def seconds_per_row(paths, repeats):
    """Of reading, and of the work of every pass, on one core."""
    work, model = noted_work(paths)

    def measure(run):
        seconds = []
        for _ in range(repeats):
            start = time.process_time()  # not of the clock: what else runs here is no matter
            result = run()
            seconds.append(time.process_time() - start)
        return min(seconds) / CHUNK, result

    found = {}
    found["read"], blocks = measure(lambda: [zarr.open_array(path)[:CHUNK] for path in paths])
    for name in ("statistics", "products", "consensus"):
        ((function, plan),) = work[name]
        found[name], rows = measure(lambda f=function, p=plan: chunks.in_one_thread(f, p, 0, *blocks))
    for name, (function, plan) in zip(("k-means, first", "k-means, next"), work["k-means"][:2], strict=True):
        found[name], _ = measure(lambda f=function, p=plan: chunks.in_one_thread(f, p, 0, rows))
    found["labels"], _ = measure(lambda: chunks.in_one_thread(model.consensus_map_.rule.predict, rows))
    return found


def graph_of_pieces(n_pieces):
    """Seconds and bytes of memory of the graph of a pass on the client, per piece."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{name}.zarr") for name in NAMES]
        for path in paths:
            zarr.create_array(path, shape=(n_pieces * CHUNK, WIDTH), chunks=(CHUNK, WIDTH), dtype="f4")

        def build():
            start = time.perf_counter()
            nodes = chunked_views(dict(zip(NAMES, paths, strict=True))).tasks(len, None, "latefusion-graph")
            return nodes, time.perf_counter() - start

        (nodes, seconds), mebibytes = measuring.with_peak_memory(build)
        assert len(nodes) >= n_pieces
    return seconds / n_pieces, mebibytes * 2**20 / n_pieces


def of_row(costs, reads, iterations):
    """Seconds that one row costs a core, in a fit and its labels."""
    passes = costs["statistics"] + costs["products"] + (reads - 2) * costs["consensus"] + costs["labels"]
    return reads * costs["read"] + passes + costs["k-means, first"] + (iterations - 1) * costs["k-means, next"]


def compare(costs, path):
    """Seconds by the model beside the measured ones; two cores that are two threads of one count as one."""
    results = json.loads(path.read_text())
    rows = []
    for row in results["rows"]:
        model = row["n_samples"] * of_row(costs, reads=4, iterations=len(row["passes"]["k-means"]))
        rows.append(
            {
                "n_samples": row["n_samples"],
                "model_seconds": round(model, 1),
                "measured_seconds": row["total_seconds"],
                "measured_over_model": round(row["total_seconds"] / model, 2),
            }
        )
    return rows


def extrapolate(costs, cluster, graph, *, kept=None):
    """Bytes, seconds and tasks on an assumed cluster."""
    n_rows, n_pieces = cluster["rows"], cluster["rows"] / cluster["rows_per_piece"]
    consensus = n_rows * N_CLUSTERS * 4
    room = KEPT_SHARE * cluster["cores"] * cluster["gib_per_core"] * 2**30
    kept = consensus <= room if kept is None else kept
    iterations = ASSUMED["iterations"]
    reads = 4 if kept else 3 + iterations
    n_tasks = (reads + iterations * kept) * n_pieces * (1 + 1 / (FAN_IN - 1))
    found = {
        "consensus_kept": kept,
        "consensus_gb": consensus / 1e9,
        "bytes_read": reads * n_rows * ROW_BYTES,
        "seconds_reading": reads * n_rows * ROW_BYTES / (cluster["storage_gb_per_second"] * 1e9),
        "seconds_computing": n_rows * of_row({**costs, "read": 0.0}, reads, iterations) / cluster["cores"],
        "flops": n_rows * (2 * (N_VIEWS * WIDTH) ** 2 + (reads - 2) * 2 * N_VIEWS * WIDTH * N_CLUSTERS),
        "bytes_moved_in_the_pass_of_products": 8 * (N_VIEWS * WIDTH) ** 2 * n_pieces,
        "tasks": n_tasks,
        "seconds_of_the_scheduler": n_tasks * ASSUMED["seconds_per_task"],
        "graph_on_client_gib": n_pieces * graph[1] / 2**30,
        "seconds_of_the_graph": n_pieces * graph[0],
    }
    working = max(found["seconds_reading"] + found["seconds_computing"], found["seconds_of_the_scheduler"])
    found["minutes_in_all"] = (working + found["seconds_of_the_graph"]) / 60
    return {name: float(f"{value:.3g}") if isinstance(value, float) else value for name, value in found.items()}


def main():
    """Measure, compare, extrapolate."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the views are written")
    parser.add_argument("--measured", type=Path, default=RESULTS / "dask_scaling.json", help="runs to compare with")
    parser.add_argument("--repeats", type=int, default=10, help="the fastest counts")
    parser.add_argument("--pieces", type=int, default=2000, help="of the graph that is built")
    parser.add_argument("--output", type=Path, help="a JSON file")
    args = parser.parse_args()
    costs = seconds_per_row(write_views(args.folder, CHUNK), args.repeats)
    graph = graph_of_pieces(args.pieces)
    nanoseconds = {name: round(1e9 * value, 1) for name, value in costs.items()}
    facts = {
        "nanoseconds_per_row_and_core": nanoseconds,
        "read_gb_per_second": round(ROW_BYTES / costs["read"] / 1e9, 2),
        "all_with_two_iterations": round(1e9 * of_row(costs, reads=4, iterations=2), 1),
        "graph_per_piece": {"milliseconds": round(1e3 * graph[0], 2), "kib": round(graph[1] / 2**10, 1)},
        "assumed": ASSUMED,
    }
    for name, value in facts.items():
        print(name, value, flush=True)
    rows = compare(costs, args.measured) if args.measured.exists() else []
    for row in rows:
        print(row)
    facts["extrapolated"] = []
    for cluster in CLUSTERS:
        for kept in (None, False):
            facts["extrapolated"].append({**cluster, **extrapolate(costs, cluster, graph, kept=kept)})
            print(json.dumps(facts["extrapolated"][-1], indent=1))
    measuring.save(args.output, rows, **facts)


if __name__ == "__main__":
    sys.exit(main())
