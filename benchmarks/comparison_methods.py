"""Every comparison method on real data sets: seconds, peak memory, accuracy, NMI. One process per method and data set.

usage: python benchmarks/comparison_methods.py DATA_DIR [--sets mfeat caltech102_10] [--methods NAME ...] [--output
FILE.json]

Dense views are z-scored column by column first, sparse ones are left as they are. All parameters have their defaults;
the classes are used for scores only. Peak memory is that of the whole process, Python and its libraries included.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse

import latefusion as lf
from latefusion.tables import format_table

OURS = {"LF-MVC-GAM": lf.GlobalAlignmentClustering, "LF-MVC-LAM": lf.LocalAlignmentClustering}
KNOWN = {**lf.baselines.METHODS, **OURS}


def scaled(array):
    """Dense columns with mean 0 and standard deviation 1."""
    if scipy.sparse.issparse(array):
        return array
    spread = array.std(axis=0)
    return (array - array.mean(axis=0)) / np.where(spread > 0, spread, 1)


def measure(path, method):
    """Run one method in this process and print what came out, as JSON."""
    data = lf.datasets.load_views(path)
    options = {"similarity": "precomputed"} if data.kind == "kernels" else {}
    views = data.views.arrays if options else [scaled(array) for array in data.views.arrays]
    model = KNOWN[method](n_clusters=len(np.unique(data.target)), random_state=0, **options)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = model.fit_predict(views)
    row = {
        "data": path.stem,
        "method": method,
        "seconds": round(time.perf_counter() - start, 2),
        "peak MiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "ACC": round(lf.metrics.clustering_accuracy(data.target, labels), 4),
        "NMI": round(lf.metrics.normalized_mutual_info(data.target, labels), 4),
        "clusters": len(np.unique(labels)),
        "iterations": int(model.n_iter_),
        "note": "; ".join(dict.fromkeys(str(one.message).split(". ")[0] for one in caught)),
    }
    print(json.dumps(row))


def main():
    """Run all and print one table per data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=["mfeat", "caltech102_10"])
    parser.add_argument("--methods", nargs="+", default=list(KNOWN))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        measure(args.data / f"{args.child[0]}.npz", args.child[1])
        return
    rows = []
    for name in args.sets:
        for method in args.methods:
            command = [sys.executable, __file__, str(args.data), "--child", name, method]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                rows.append({"data": name, "method": method, "note": done.stderr.strip().splitlines()[-1]})
            else:
                rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(f"{name} {method}: {rows[-1].get('seconds', 'failed')}", file=sys.stderr, flush=True)
            if args.output:
                args.output.write_text(json.dumps(rows, indent=1) + "\n")
    header = ["method", "seconds", "peak MiB", "ACC", "NMI", "clusters", "iterations", "note"]
    for name in args.sets:
        cells = [[str(row.get(key, "-")) for key in header] for row in rows if row["data"] == name]
        print(f"\n{name}\n\n{format_table(header, cells)}")


if __name__ == "__main__":
    main()
