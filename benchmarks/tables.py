"""Large tables with columns of all kinds: from files to labels, in seconds and bytes.

usage: python benchmarks/tables.py [--rows 1000000] [--numeric]

Two CSV files with the same samples, 28 columns in all: 5 of categories, 3 of dates and 20 of numbers, some cells empty.
They are clustered by the command line in a process of its own. With ``--numeric`` the time to read a file of
numbers, without and with a column of ids, is measured as well, against the same read by pandas alone.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_CLUSTERS = 5
CHUNK = 100_000
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def write_tables(folder: Path, n_rows: int) -> tuple[list[Path], np.ndarray]:
    """Write the two files; returns their paths and the planted clusters."""
    rng = np.random.default_rng(0)
    files = [folder / "customers.csv", folder / "orders.csv"]
    classes = rng.integers(0, N_CLUSTERS, n_rows)
    centers = rng.standard_normal((N_CLUSTERS, 20)) * 1.5
    likely = rng.integers(0, 8, (N_CLUSTERS, 5))
    for start in range(0, n_rows, CHUNK):
        own = classes[start : start + CHUNK]
        size = len(own)
        numbers = np.round(rng.standard_normal((size, 20)) + centers[own], 4)
        numbers[rng.random(numbers.shape) < 0.02] = np.nan
        words = np.where(rng.random((size, 5)) < 0.6, likely[own], rng.integers(0, 8, (size, 5)))
        days = np.datetime64("2015-01-01") + (own[:, None] * 200 + rng.integers(0, 700, (size, 3)))
        table = {"id": np.arange(start, start + size) + 10**7}
        table |= {f"kind{one}": LETTERS[words[:, one] + 3 * one] for one in range(5)}
        table |= {f"date{one}": days[:, one].astype(str) for one in range(3)}
        table |= {f"x{one}": numbers[:, one] for one in range(20)}
        frame = pd.DataFrame(table).set_index("id")
        halves = [list(frame.columns[:3]) + list(frame.columns[5:7]) + list(frame.columns[8:18]), None]
        halves[1] = [column for column in frame.columns if column not in halves[0]]
        for file, columns in zip(files, halves, strict=True):
            frame[columns].to_csv(file, mode="w" if start == 0 else "a", header=start == 0)
    return files, classes


def run_command(files: list[Path], output: Path) -> tuple[float, float]:
    """Seconds and peak GiB of ``latefusion cluster`` in a process of its own."""
    code = (
        "import resource, sys; from latefusion.cli import main; main(sys.argv[1:]); "
        "print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    words = ["cluster", *map(str, files), "-k", str(N_CLUSTERS), "-o", str(output), "--quiet"]
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    print(done.stdout)
    return seconds, int(done.stderr.split("peak")[1]) / 2**20


def time_numeric(folder: Path, n_rows: int) -> None:
    """Seconds to read tables of numbers by pandas, and as a view."""
    from latefusion.datasets import load_views

    rng = np.random.default_rng(1)
    numbers = pd.DataFrame(np.round(rng.standard_normal((n_rows, 20)), 4))
    files = {"20 columns": folder / "numbers.csv", "20 columns and ids": folder / "ids.csv"}
    numbers.to_csv(files["20 columns"], index=False)
    numbers.set_axis(numbers.index + 10**7).to_csv(files["20 columns and ids"], index_label="id")
    for (content, file), (name, read) in itertools.product(
        files.items(), (("pandas.read_csv", pd.read_csv), ("load_views", load_views))
    ):
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            read(file)
            seconds.append(time.perf_counter() - start)
        print(f"{name:16s} {n_rows} rows, {content}: {min(seconds):.2f} s")


def main() -> None:
    """Write the tables, cluster them, print figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--numeric", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.numeric:
            time_numeric(folder, options.rows)
        files, classes = write_tables(folder, options.rows)
        print(", ".join(f"{file.name} {file.stat().st_size / 2**20:.0f} MiB" for file in files), flush=True)
        seconds, peak = run_command(files, folder / "labels.csv")
        from latefusion.metrics import adjusted_rand

        labels = pd.read_csv(folder / "labels.csv")
        score = adjusted_rand(classes[labels["id"].to_numpy() - 10**7], labels["label"].to_numpy())
        print(
            f"{options.rows} rows: read, clustered and written in {seconds:.1f} s, peak {peak:.2f} GiB, ARI {score:.3f}"
        )


if __name__ == "__main__":
    main()
