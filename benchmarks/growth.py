"""How time and memory grow with the samples, the width of a view, the clusters and the views, one at a time.

usage: python benchmarks/growth.py [--scale 1.0] [--repeats 3] [--output FILE.json]

Global and local alignment on linear kernels, which are never formed, of float32 views around one base point. Every
point is the shortest of some fits; memory is what a fit adds to the process at most, the input not counted (Linux).
The exponent is the slope in the logarithms over the upper half of the points. Beside the JSON goes a picture.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import latefusion as lf
from latefusion.tables import format_table
from measuring import BLUE, ORANGE, best_seconds, figure, machine, save, with_peak_memory

BASE = {"samples": 50_000, "width": 64, "clusters": 10, "views": 3}
AXES = {
    "samples": [25_000, 50_000, 100_000, 200_000, 400_000],
    "width": [16, 32, 64, 128, 256, 512],
    "clusters": [4, 8, 16, 32, 64],
    "views": [2, 4, 8, 16],
}
METHODS = {"global": lf.GlobalAlignmentClustering, "local": lf.LocalAlignmentClustering}


def make(samples, width, clusters, views):
    """Gaussian clusters, a little apart, seen in several views."""
    generator = np.random.default_rng(0)
    target = generator.integers(clusters, size=samples)
    made = []
    for _ in range(views):
        view = generator.standard_normal((samples, width), dtype=np.float32)
        view += generator.standard_normal((clusters, width), dtype=np.float32)[target]
        made.append(view)
    return made


def measure(point, repeats):
    """One row per method at one point."""
    views = make(**point)
    rows = []
    for name, method in METHODS.items():
        model = method(point["clusters"], kernel="linear", random_state=0)
        _, memory = with_peak_memory(lambda model=model: model.fit(views) and None)
        del model._partitions, model.consensus_, model.partitions_
        seconds, _ = best_seconds(lambda model=model: model.fit(views) and None, repeats)
        rows.append({"method": name, **point, "seconds": round(seconds, 4), "extra MiB": round(memory, 1)})
        del model
    return rows


def exponent(x, y):
    """Slope of log y over log x in the upper half of the points."""
    half = len(x) // 2
    return float(np.polyfit(np.log(x[half - 1 :]), np.log(y[half - 1 :]), 1)[0])


def exponents(rows):
    """Per axis, method and quantity."""
    found = {}
    for axis in AXES:
        for method in METHODS:
            chosen = [row for row in rows if row["axis"] == axis and row["method"] == method]
            for quantity in ("seconds", "extra MiB"):
                x, y = [row[axis] for row in chosen], [max(row[quantity], 1e-3) for row in chosen]
                if len(x) > 2:
                    found[axis, method, quantity] = round(exponent(x, y), 2)
    return found


def draw(rows, path):
    """Time above, memory below, one column per axis."""
    slopes = exponents(rows)
    canvas, axes = figure(nrows=2, ncols=4, figsize=(12, 6), sharey="row", sharex="col")
    for column, axis in enumerate(AXES):
        for line, quantity in enumerate(("seconds", "extra MiB")):
            ax = axes[line][column]
            for method, color, marker in (("global", BLUE, "o"), ("local", ORANGE, "s")):
                chosen = [row for row in rows if row["axis"] == axis and row["method"] == method]
                label = f"{method}, exponent {slopes.get((axis, method, quantity), float('nan')):.2f}"
                x, y = [row[axis] for row in chosen], [row[quantity] for row in chosen]
                ax.loglog(x, y, color=color, marker=marker, label=label)
            ax.legend(frameon=False, fontsize=9, handlelength=1.2)
            ax.grid(alpha=0.3, linewidth=0.5)
        measured = sorted({row[axis] for row in rows if row["axis"] == axis})
        axes[1][column].set_xticks(measured, [f"{one // 1000}k" if one >= 1000 else str(one) for one in measured])
        axes[1][column].minorticks_off()
        axes[1][column].set_xlabel(axis if axis != "width" else "columns per view")
    axes[0][0].set_ylabel("seconds")
    axes[1][0].set_ylabel("memory above the input (MiB)")
    samples = next(row["samples"] for row in rows if row["axis"] == "width")
    base = f"{samples:,} samples, {BASE['views']} views of {BASE['width']} columns, {BASE['clusters']} clusters"
    canvas.suptitle(f"Growth around {base}", x=0.01, ha="left")
    canvas.savefig(path, dpi=150)


def main():
    """Measure all axes, save, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of samples")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    measure({"samples": 2000, "width": 16, "clusters": 3, "views": 2}, 1)  # buffers that stay are made here
    rows = []
    for axis, values in AXES.items():
        for value in values:
            point = {**BASE, axis: value}
            point["samples"] = max(1000, int(args.scale * point["samples"]))
            for row in measure(point, args.repeats):
                rows.append({"axis": axis, **row})
                print(json.dumps(rows[-1]), flush=True)
            save(args.output, rows)
    found = exponents(rows)
    cells = [
        [axis, *[f"{found[axis, method, quantity]:.2f}" for quantity in ("seconds", "extra MiB") for method in METHODS]]
        for axis in AXES
    ]
    print("\nexponents\n")
    print(format_table(["in", "seconds, global", "local", "memory, global", "local"], cells))
    print(f"\n{machine()}")
    save(args.output, rows, exponents=[{"axis": key[0], "method": key[1], key[2]: one} for key, one in found.items()])
    if args.output:
        draw(rows, args.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
