"""Where the time goes at a million samples, and how far every stage is from what the machine can do.

usage: python benchmarks/stages.py [--samples 1000000] [--repeats 3] [--output FILE.json]

Global alignment on the linear kernels of three float32 views of 64 columns, ten clusters, eleven λ, ten k-means starts,
step by step. Beside the seconds of a stage stand the bytes that it has to move and the operations that it has to do at
the least (its input read once, its result written once, the matrix products of the formula), as shares of the memory
bandwidth (a sum of two arrays into a third, all threads) and of the peak of matrix products that are measured in the
same run. A stage near 100 % in either column cannot be made faster by writing it better. Beside the JSON goes a
picture.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import latefusion as lf
from latefusion.assignment import ASSIGNMENTS
from latefusion.partitions.gram import FactorStack, factor_partitions, factor_projections
from latefusion.solvers import compress_partitions, mix_partitions, solve_alignment
from latefusion.tables import format_table
from measuring import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW, best_seconds, figure, machine, save, threads

N_VIEWS, WIDTH, N_CLUSTERS = 3, 64, 10
REGULARIZATIONS = [2.0**exponent for exponent in range(-5, 6)]
COLORS = {
    "means": SKY,
    "Gram matrix": BLUE,
    "small eigenproblems": GREY,
    "partitions": GREEN,
    "compression": YELLOW,
    "11 solutions": RED,
    "consensus": PURPLE,
    "k-means": ORANGE,
}


def make(n_samples):
    """Gaussian clusters seen in three views."""
    generator = np.random.default_rng(0)
    target = generator.integers(N_CLUSTERS, size=n_samples)
    views = []
    for _ in range(N_VIEWS):
        view = generator.standard_normal((n_samples, WIDTH), dtype=np.float32)
        view *= 3
        view += generator.standard_normal((N_CLUSTERS, WIDTH), dtype=np.float32)[target]
        views.append(view)
    return views


def bandwidth(repeats, size=2**26):
    """Bytes per second of c = a + b over arrays far larger than the cache, on all threads."""
    first, second, third = (np.ones(size, dtype=np.float32) for _ in range(3))
    pieces = [slice(edge, edge + size // threads()) for edge in range(0, size, size // threads())]
    with ThreadPoolExecutor(threads()) as pool:

        def add():
            list(pool.map(lambda piece: np.add(first[piece], second[piece], out=third[piece]), pieces))

        seconds, _ = best_seconds(add, 2 * repeats)
    return 3 * first.nbytes / seconds


def peak(repeats, size=3072):
    """Operations per second of a large product of float32 matrices."""
    left, right, out = (np.ones((size, size), dtype=np.float32) for _ in range(3))
    seconds, _ = best_seconds(lambda: np.matmul(left, right, out=out), 2 * repeats)
    return 2 * size**3 / seconds


def stages(views, repeats):
    """Per stage: name, seconds, bytes and operations it takes at the least."""
    n_samples, k, width = len(views[0]), N_CLUSTERS, N_VIEWS * WIDTH
    rows, columns = 4 * n_samples, (N_VIEWS + 1) * N_CLUSTERS
    kind = lf.KernelSimilarity("linear", method="factor")
    seconds, factors = best_seconds(lambda: [kind.similarity(view, k)[0] for view in views], repeats)
    yield "means", seconds, rows * width, n_samples * width
    stack = FactorStack(factors)
    both, projections = best_seconds(lambda: factor_projections(stack, k), repeats)
    few = FactorStack([kind.similarity(view[: 2 * WIDTH], k)[0] for view in views])
    small, _ = best_seconds(lambda: factor_projections(few, k), repeats)
    yield "Gram matrix", both - small, rows * width, n_samples * width * (width + 1)
    yield "small eigenproblems", small, 0, 0
    seconds, table = best_seconds(lambda: factor_partitions(stack, projections, None), repeats)
    yield "partitions", seconds, rows * (width + columns), 2 * n_samples * 2 * width * k
    *partitions, average = [table[:, start : start + k] for start in range(0, columns, k)]
    seconds, (blocks, block) = best_seconds(lambda: compress_partitions(partitions, average, xp=np), repeats)
    yield "compression", seconds, rows * columns, n_samples * columns * (columns + 1)

    def solve():
        return [solve_alignment(blocks, block, regularization=value, xp=np) for value in REGULARIZATIONS]

    seconds, results = best_seconds(solve, repeats)
    yield "11 solutions", seconds, 0, 0
    mixing = results[REGULARIZATIONS.index(1.0)].mixing
    seconds, consensus = best_seconds(lambda: mix_partitions(partitions, average, mixing), repeats)
    yield "consensus", seconds, rows * (columns + k), 2 * n_samples * columns * k
    assign = ASSIGNMENTS["kmeans"]
    seconds, _ = best_seconds(lambda: assign(consensus, k, n_init=10, random_state=0) and None, repeats)
    # All ten starts are compared on all rows once, in products of rows and centres; labels are one more pass.
    yield "k-means", seconds, rows * 2 * k + 8 * n_samples, 2 * n_samples * 11 * k * k


def draw(rows, whole, path):
    """The stages of one fit as a stacked bar, and below how much of the machine each uses."""
    canvas, (top, below) = figure(nrows=2, figsize=(10, 6), height_ratios=[1, 4])
    start = 0.0
    for row in rows:
        top.barh(0, row["seconds"], left=start, color=COLORS[row["stage"]], edgecolor="white", height=0.6)
        ink = "white" if COLORS[row["stage"]] in (BLUE, GREEN, GREY, RED) else "black"
        if row["seconds"] > 0.08 * sum(one["seconds"] for one in rows):
            top.text(start + row["seconds"] / 2, 0, row["stage"], ha="center", va="center", fontsize=9, color=ink)
        start += row["seconds"]
    top.set_yticks([])
    top.spines["left"].set_visible(False)
    top.set_xlabel("seconds, one after the other")
    top.set_title(f"Path of eleven λ with labels at one of them; a fit at one λ takes {whole:.2f} s", loc="left")
    places = np.arange(len(rows))[::-1]
    for place, row in zip(places, rows, strict=True):
        color = COLORS[row["stage"]]
        bars = [(row["of bandwidth"], 0.2, None), (row["of peak"], -0.2, "////")]
        for share, shift, hatch in bars:
            if share is not None:
                below.barh(
                    place + shift, share, height=0.36, color=color, hatch=hatch, edgecolor="black", linewidth=0.5
                )
                below.text(share + 0.8, place + shift, f"{share:.2g} %", va="center", fontsize=9)
        if row["of bandwidth"] is None:
            below.text(0.8, place, "does not see the samples", va="center", fontsize=9)
    below.set_yticks(places, [f"{row['stage']}, {row['seconds']:.3f} s" for row in rows])
    below.set_xlim(0, 108)
    below.set_xlabel(
        "per cent of the memory bandwidth (plain) and of the peak of matrix products (hatched), as measured"
    )
    canvas.savefig(path, dpi=150)


def share(amount, seconds, rate):
    """Per cent of what could be done in that time."""
    return None if amount == 0 else round(100 * amount / seconds / rate, 1)


def main():
    """Measure the machine and all stages, print, save, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    most_bytes, most_operations = bandwidth(args.repeats), peak(args.repeats)
    facts = {
        "samples": args.samples,
        "views": [WIDTH] * N_VIEWS,
        "bandwidth GB/s": round(most_bytes / 1e9, 1),
        "peak Gflop/s": round(most_operations / 1e9, 1),
    }
    views = make(args.samples)
    rows = []
    for name, seconds, moved, operations in stages(views, args.repeats):
        rows.append(
            {
                "stage": name,
                "seconds": round(seconds, 4),
                "GB": round(moved / 1e9, 3),
                "Gflop": round(operations / 1e9, 2),
                "of bandwidth": share(moved, seconds, most_bytes),
                "of peak": share(operations, seconds, most_operations),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
        save(args.output, rows, **facts)
    model = lf.GlobalAlignmentClustering(N_CLUSTERS, kernel="linear", random_state=0)
    whole, _ = best_seconds(lambda: model.fit(views) and None, args.repeats)
    save(args.output, rows, **facts, **{"one fit (s)": round(whole, 3)})
    header = ["stage", "seconds", "GB", "Gflop", "of bandwidth", "of peak"]
    print("\n" + format_table(header, [[str(row[key]) for key in header] for row in rows]))
    total = sum(row["seconds"] for row in rows)
    print(f"\nall stages {total:.2f} s; one fit, confidence and agreement included, {whole:.2f} s")
    print(f"bandwidth {most_bytes / 1e9:.1f} GB/s, peak {most_operations / 1e9:.0f} Gflop/s; {machine()}")
    if args.output:
        draw(rows, whole, args.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
