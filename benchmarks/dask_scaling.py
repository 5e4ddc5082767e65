"""How global alignment on Dask grows with the samples: time, memory, and labels, on a cluster of this machine.

    python benchmarks/dask_scaling.py --folder FOLDER --output benchmarks/results/dask_scaling.json

Needs the extra `dask`. Writes 3 views x 32 columns of float32 to FOLDER as Zarr (once; 7.7 GB for 20 million samples),
and then measures

- the rate of one machine: views in memory, `latefusion.GlobalAlignmentClustering`, with and without reading the store;
- the same fit by `latefusion.distributed` on 2 workers of 1 thread and 2 GiB, at several sizes: seconds of every pass,
  seconds until all labels are counted, peak memory of the process that holds client and scheduler, and of the workers;
- labels for five chunkings of the same data against those in memory, and after workers were killed;
- seconds per million samples and core for other kernels and graphs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import zarr
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
import measuring
from distributed import Client, LocalCluster
from latefusion import distributed
from latefusion.distributed import passes

N_VIEWS, WIDTH, N_CLUSTERS = 3, 32, 10
CHUNK = 200_000
NAMES = [f"view_{view}" for view in range(N_VIEWS)]
FIT = {"n_clusters": N_CLUSTERS, "kernel": "linear", "random_state": 0}
ALLOWED = 1.5
# Dask tells its workers to give every freed block of memory back to the system at once. Chunks that are read one after
# the other then cost more in fresh pages than in reading (see docs/SCALING.md).
WORKER_ENVIRONMENT = {
    "OMP_NUM_THREADS": 1,
    "OPENBLAS_NUM_THREADS": 1,
    "MALLOC_TRIM_THRESHOLD_": 2**28,
    "MALLOC_MMAP_THRESHOLD_": 2**28,
}


def rows_of(view, chunk, n_rows=CHUNK):
    """Rows of a chunk of planted clusters: the same whoever makes them."""
    centers = 1.5 * np.random.default_rng(view).standard_normal((N_CLUSTERS, WIDTH), dtype=np.float32)
    labels = np.random.default_rng([N_VIEWS, chunk]).integers(0, N_CLUSTERS, n_rows)
    rows = np.random.default_rng([view, chunk]).standard_normal((n_rows, WIDTH), dtype=np.float32)
    rows += centers[labels]
    return rows


def write_chunk(job):
    """Fill one chunk of a store."""
    path, view, chunk = job
    store = zarr.open_array(path, mode="r+")
    first = chunk * CHUNK
    store[first : first + CHUNK] = rows_of(view, chunk, min(CHUNK, store.shape[0] - first))


def write_views(folder, n_samples):
    """Zarr stores of all views, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / f"{n_samples}.done"
    paths = [str(folder / f"{n_samples}_{name}.zarr") for name in NAMES]
    if not done.exists():
        jobs = []
        for view, path in enumerate(paths):
            zarr.create_array(
                path, shape=(n_samples, WIDTH), chunks=(CHUNK, WIDTH), dtype="f4", compressors=None, overwrite=True
            )
            jobs += [(path, view, chunk) for chunk in range(-(-n_samples // CHUNK))]
        with ProcessPoolExecutor(2) as processes:
            list(processes.map(write_chunk, jobs))
        done.touch()
    return paths


def chunked(paths, n_samples):
    """The first samples of the stores, as Dask arrays."""
    return {name: da.from_zarr(path)[:n_samples] for name, path in zip(NAMES, paths, strict=True)}


def in_memory(paths, n_samples):
    """Seconds to read the views, and to fit them."""
    start = time.perf_counter()
    views = {name: zarr.open_array(path)[:n_samples] for name, path in zip(NAMES, paths, strict=True)}
    reading = time.perf_counter() - start
    fitting, _ = measuring.best_seconds(lambda: lf.GlobalAlignmentClustering(**FIT).fit(views), 3)
    return reading, fitting


class timed_passes:
    """Inside, the seconds of every pass are noted."""

    def __enter__(self):
        self.seconds, self.run = {}, passes.run

        def run(result, views, name):
            start = time.perf_counter()
            found = self.run(result, views, name)
            self.seconds.setdefault(name, []).append(round(time.perf_counter() - start, 3))
            return found

        passes.run = run
        return self.seconds

    def __exit__(self, *error):
        passes.run = self.run


def peak_memory():
    """High-water mark of this process in MiB."""
    return measuring._memory("VmHWM")


def start_cluster(args):
    """Workers on this machine; the scheduler lives in this process, beside the client."""
    return LocalCluster(
        n_workers=args.workers, threads_per_worker=1, memory_limit=args.memory, dashboard_address=None, silence_logs=40
    )


def cluster_row(paths, n_samples, args):
    """One fit on a cluster of its own."""
    Path("/proc/self/clear_refs").write_text("5")
    with start_cluster(args) as cluster, Client(cluster) as client:
        client.run(lambda: lf.__version__)  # workers import the package once, before
        with timed_passes() as seconds:
            start = time.perf_counter()
            model = distributed.GlobalAlignmentClustering(**FIT).fit(chunked(paths, n_samples))
            fitted = time.perf_counter() - start
            sizes = da.bincount(model.labels_, minlength=N_CLUSTERS).compute()
            total = time.perf_counter() - start
        workers = max(client.run(peak_memory).values())
    assert sizes.sum() == n_samples
    print(f"{n_samples} samples: {total:.1f} s", flush=True)
    return {
        "n_samples": n_samples,
        "fit_seconds": round(fitted, 2),
        "total_seconds": round(total, 2),
        "passes": seconds,
        "client_and_scheduler_mib": round(peak_memory()),
        "worker_mib": round(workers),
        "smallest_cluster": int(sizes.min()),
    }


def chunkings(n_samples=2400):
    """Agreement with the labels in memory for five chunkings of the same views."""
    views = {name: rows_of(view, 0, n_samples) for view, name in enumerate(NAMES)}
    expected = lf.GlobalAlignmentClustering(**FIT).fit(views).labels_
    unequal = (1, 799, 7, 1, 92, 1500)
    ways = {
        "one chunk": [n_samples] * 3,
        "equal chunks": [300] * 3,
        "unequal chunks": [unequal, unequal[::-1], (n_samples,)],
        "chunks out of line": [170, 1000, 777],
        "chunks of one row": [1] * 3,
    }
    rows = []
    for way, sizes in ways.items():
        cut = {
            name: da.from_array(view, chunks=(size, -1))
            for (name, view), size in zip(views.items(), sizes, strict=True)
        }
        labels = distributed.GlobalAlignmentClustering(**FIT).fit(cut).labels_.compute()
        rows.append({"chunks": way, "ari": float(adjusted_rand_score(labels, expected))})
        print(f"{way:20s} ARI {rows[-1]['ari']:.6f}", flush=True)
    return rows


def killed_workers(paths, n_samples, args):
    """Labels of a fit during which two workers are killed, against those in memory."""
    views = {name: zarr.open_array(path)[:n_samples] for name, path in zip(NAMES, paths, strict=True)}
    expected = lf.GlobalAlignmentClustering(**FIT).fit(views).labels_
    killed = []

    def kill(cluster):
        pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
        os.kill(pids[-1], signal.SIGKILL)
        killed.append(pids[-1])

    with start_cluster(args) as cluster, Client(cluster) as client:
        client.run(lambda: lf.__version__)
        start = time.perf_counter()
        distributed.GlobalAlignmentClustering(**FIT).fit(chunked(paths, n_samples))
        usual = time.perf_counter() - start
        moments = (usual * np.random.default_rng().uniform([0.05, 0.5], [0.5, 0.95])).round(2).tolist()
        timers = [threading.Timer(moment, kill, [cluster]) for moment in moments]
        for timer in timers:
            timer.start()
        start = time.perf_counter()
        labels = distributed.GlobalAlignmentClustering(**FIT).fit(chunked(paths, n_samples)).labels_.compute()
        seconds = time.perf_counter() - start
        for timer in timers:
            timer.join()
    ari = float(adjusted_rand_score(labels, expected))
    print(f"workers killed after {moments} s of {seconds:.1f}: ARI {ari:.6f}", flush=True)
    return {
        "n_samples": n_samples,
        "killed_after_seconds": moments,
        "killed": len({*killed}),
        "seconds": seconds,
        "ari": ari,
    }


def other_similarities(paths, n_samples):
    """Seconds of every pass with the threads of this machine, per million samples and core."""
    found = {}
    options = {"linear": {}, "gaussian": {"kernel": "gaussian"}, "graph": {"similarity": "graph"}}
    with dask.config.set(scheduler="threads", num_workers=2):
        for name, own in options.items():
            with timed_passes() as seconds:
                start = time.perf_counter()
                model = distributed.GlobalAlignmentClustering(**{**FIT, **own}).fit(chunked(paths, n_samples))
                model.labels_.sum().compute()
                total = time.perf_counter() - start
            per_million = 2e6 / n_samples
            found[name] = {key: round(sum(value) * per_million, 2) for key, value in seconds.items()}
            found[name]["all, with labels"] = round(total * per_million, 2)
            print(name, found[name], flush=True)
    return found


def exponent(rows):
    """Slope of the logarithm of the seconds over that of the samples."""
    sizes, seconds = ([row[key] for row in rows] for key in ("n_samples", "total_seconds"))
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def draw(rows, single, path):
    """Seconds over samples, with the ideal and what is allowed."""
    figure, axes = measuring.figure(figsize=(6, 4))
    sizes = np.array([row["n_samples"] for row in rows]) / 1e6
    ideal = sizes * 1e6 * single["seconds_per_row"]
    axes.plot(sizes, [row["total_seconds"] for row in rows], "o-", color=measuring.BLUE, label="Dask, fit and labels")
    axes.plot(sizes, ideal, "--", color=measuring.GREY, label="ideal: rate of one machine in memory")
    axes.plot(sizes, ALLOWED * ideal, ":", color=measuring.ORANGE, label=f"{ALLOWED} times the ideal")
    axes.set(xscale="log", yscale="log", xlabel="million samples (3 views x 32 columns)", ylabel="seconds")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    ticks = [one for one in (2, 5, 10, 20, 50, 100, 200) if ideal.min() / 1.5 < one < 2 * ALLOWED * ideal.max()]
    axes.set_yticks(ticks, map(str, ticks))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main():
    """Write, measure, check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the views are written")
    parser.add_argument("--sizes", type=float, nargs="+", default=[5e6, 10e6, 20e6])
    parser.add_argument("--reference", type=float, default=2e6, help="samples of the fit in memory")
    parser.add_argument("--repeats", type=int, default=2, help="fits of every size; the fastest counts")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GiB", help="of a worker")
    parser.add_argument("--output", type=Path, help="a JSON file, and a picture beside it")
    parser.add_argument("--only", choices=["write", "growth", "checks"], help="one of the parts, to be put together")
    args = parser.parse_args()
    sizes = sorted(int(size) for size in args.sizes)
    dask.config.set({"distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT})
    paths = write_views(args.folder, sizes[-1])
    if args.only == "write":
        return
    machine = measuring.machine()  # the environment of workers leaves traces in this one
    facts = {}
    if args.output is not None and args.output.exists():
        facts = json.loads(args.output.read_text())
    rows = facts.pop("rows", [])
    facts["machine"] = machine
    if args.only != "checks":
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:  # which takes its memory with it
            reading, fitting = process.submit(in_memory, paths, int(args.reference)).result()
        single = {
            "n_samples": int(args.reference),
            "reading_seconds": round(reading, 2),
            "fit_seconds": round(fitting, 2),
            "seconds_per_row": fitting / args.reference,
            "seconds_per_row_with_reading": (reading + fitting) / args.reference,
        }
        print(single, flush=True)
        rows = []
        found = [cluster_row(paths, n_samples, args) for _ in range(args.repeats) for n_samples in sizes]
        for n_samples in sizes:
            own = [row for row in found if row["n_samples"] == n_samples]
            row = min(own, key=lambda row: row["total_seconds"])
            row["all_total_seconds"] = [one["total_seconds"] for one in own]
            row["times_ideal"] = round(row["total_seconds"] / (n_samples * single["seconds_per_row"]), 3)
            row["times_ideal_with_reading"] = round(
                row["total_seconds"] / (n_samples * single["seconds_per_row_with_reading"]), 3
            )
            rows.append(row)
            print(row, flush=True)
        facts.update(
            workers=f"{args.workers} x 1 thread, {args.memory} each", single_machine=single, exponent=exponent(rows)
        )
        print(f"exponent {facts['exponent']:.3f}", flush=True)
        if args.output is not None:
            draw(rows, single, args.output.with_suffix(".png"))
            measuring.save(args.output, rows, **facts)
    if args.only != "growth":
        facts["chunkings"] = chunkings()
        facts["killed_workers"] = killed_workers(paths, int(args.reference), args)
        facts["seconds_per_million_rows_and_core"] = other_similarities(paths, min(400_000, sizes[-1]))
        measuring.save(args.output, rows, **facts)


if __name__ == "__main__":
    sys.exit(main())
