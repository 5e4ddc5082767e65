"""Clustering on one GPU: torch tensors in, everything on the device.

usage: python benchmarks/gpu.py [--scale 1.0] [--kernel linear] [--tf32] [--late-fusion] [--output FILE.json]

For every problem: a path over eleven λ and the labels at λ = 1 (ten k-means starts), for global alignment; the same
for local alignment at one λ beside one global fit. With ``--late-fusion``, instead: a fit of `LateFusionClustering`
(kernels and graphs, all choices made from the data) and its labels of all samples. The second run of the process
counts. Needs torch and a GPU: without one it says so and ends with exit code 2, unless ``--scale 0.01`` or less asks
for a small try on the CPU.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

import latefusion as lf

PROBLEMS = {
    "10^7 x 3 x 128": (10_000_000, (128, 128, 128)),
    "60 000 x (4096 + 1024 + 2048)": (60_000, (4096, 1024, 2048)),
    "10^8 x 3 x 32": (100_000_000, (32, 32, 32)),
}
LATE_FUSION = {
    "10^7 x 3 x 128": (10_000_000, (128, 128, 128)),
    "10^6 x 3 x 128": (1_000_000, (128, 128, 128)),
}
# Up to 10 000 samples, `LateFusionClustering` computes on the host.
LEAST_SAMPLES, LEAST_LATE_FUSION = 2000, 12_000
REGULARIZATIONS = [2.0**exponent for exponent in range(-5, 6)]
N_CLUSTERS = 10
# Up to this share of the samples a CPU is done within minutes.
CPU_SCALE = 0.01


def make(n_samples, widths, device, noise=3.0):
    """Gaussian clusters seen in several views."""
    torch.manual_seed(0)
    target = torch.randint(N_CLUSTERS, (n_samples,), device=device)
    views = []
    for width in widths:
        centers = torch.randn(N_CLUSTERS, width, device=device)
        view = torch.randn(n_samples, width, device=device)
        view *= noise
        step = 10_000_000
        for start in range(0, n_samples, step):
            view[start : start + step] += centers[target[start : start + step]]
        views.append(view)
    return views, target


def accuracy(target, labels):
    """Accuracy on up to a million samples."""
    return lf.metrics.clustering_accuracy(target[:1_000_000].cpu().numpy(), labels[:1_000_000].cpu().numpy())


def timed(run, device, repeats=2):
    """Seconds of the last of several runs, and what it returned."""
    for _ in range(repeats):
        result = None
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        result = run()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
    return seconds, result


def measure(name, n_samples, widths, device, kernel):
    """All figures of one problem."""
    views, target = make(n_samples, widths, device)
    options = {"n_clusters": N_CLUSTERS, "kernel": kernel, "n_init": 10, "random_state": 0}
    gam, lam = lf.GlobalAlignmentClustering(**options), lf.LocalAlignmentClustering(**options)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    path_seconds, labels = timed(lambda: gam.regularization_path(views, REGULARIZATIONS)[5].labels, device)
    row = {
        "problem": name,
        "kernel": kernel,
        "single precision products": torch.get_float32_matmul_precision(),
        "samples": n_samples,
        "path of 11, labels at 1 (s)": round(path_seconds, 3),
        "accuracy": round(accuracy(target, labels), 4),
    }
    del labels
    global_seconds, labels = timed(lambda: gam.fit_predict(views), device)
    row["global fit (s)"] = round(global_seconds, 3)
    local_seconds, labels = timed(lambda: lam.fit_predict(views), device)
    row["local fit (s)"] = round(local_seconds, 3)
    row["local / global"] = round(local_seconds / global_seconds, 2)
    row["local accuracy"] = round(accuracy(target, labels), 4)
    return finished(row, views, device)


def measure_late_fusion(name, n_samples, widths, device, kernel):
    """The figures of `LateFusionClustering`."""
    views, target = make(n_samples, widths, device)
    model = lf.LateFusionClustering(N_CLUSTERS, kernel=kernel, random_state=0)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds, _ = timed(lambda: model.fit(views), device)
    row = {
        "problem": name,
        "kernel": kernel,
        "single precision products": torch.get_float32_matmul_precision(),
        "samples": n_samples,
        "late fusion fit (s)": round(seconds, 3),
        "similarity": model.similarity_,
        "weighting": model.weighting_,
        "accuracy": round(accuracy(target, model.labels_), 4),
    }
    seconds, labels = timed(lambda: model.predict(views), device)
    row["late fusion predict (s)"] = round(seconds, 3)
    row["same labels"] = round(float((labels == model.labels_).double().mean()), 6)
    return finished(row, views, device)


def finished(row, views, device):
    """Print a row, with memory."""
    if device == "cuda":
        row["peak GiB"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    row["input GiB"] = round(sum(view.numel() * 4 for view in views) / 2**30, 1)
    print(json.dumps(row), flush=True)
    return row


def main():
    """Run all problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of samples")
    kernels = sorted(lf.kernels.KERNELS)
    parser.add_argument("--kernel", choices=kernels, help="kernel of the features (linear; late fusion: gaussian)")
    parser.add_argument("--tf32", action="store_true", help="let torch round products of single precision to TF32")
    parser.add_argument("--late-fusion", action="store_true", help="measure LateFusionClustering instead")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and args.scale > CPU_SCALE:
        parser.error(
            f"torch sees no GPU on this machine. Run it where there is one, or try it on the CPU with "
            f"--scale {CPU_SCALE} or less."
        )
    if args.tf32:
        torch.set_float32_matmul_precision("high")
    if args.late_fusion:
        problems, least, kernel, run = LATE_FUSION, LEAST_LATE_FUSION, args.kernel or "gaussian", measure_late_fusion
    else:
        problems, least, kernel, run = PROBLEMS, LEAST_SAMPLES, args.kernel or "linear", measure
    rows = [
        run(name, max(least, int(args.scale * n_samples)), widths, device, kernel)
        for name, (n_samples, widths) in problems.items()
    ]
    if args.output:
        args.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
