"""Why methods differ from the paper's numbers on its own kernels: the experiments behind the reasons.

usage: python benchmarks/paper_explanations.py DATA_DIR [--starts 50] [--output FILE.csv]

The paper does not say how it ran the methods it compares with. Each experiment here runs one of them, on AR10P or YALE,
in a way that its authors' code or the literature suggests, and writes a reason with the scores it measured (accuracy /
NMI / purity, in per cent) beside the printed ones. ``src/latefusion/experiments/paper/explanations.csv``, which the
report of `latefusion reproduce` quotes, is the output of this script.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from latefusion import LocalAlignmentClustering
from latefusion.baselines import METHODS
from latefusion.baselines.rmkkm import solve_rmkkm
from latefusion.baselines.swmc import solve_swmc
from latefusion.datasets import load_views
from latefusion.experiments.printed import printed_value
from latefusion.experiments.protocol import CONTENDERS, LAM
from latefusion.kernels import normalize_kernel
from latefusion.metrics import clustering_accuracy, normalized_mutual_info, purity_score

FILES = {"AR10P": "ar10p_kernels.npz", "YALE": "yale_kernels.npz"}


class Problem(NamedTuple):
    """One data set of the paper with its own kernels."""

    name: str
    kernels: list[np.ndarray]
    target: np.ndarray
    n_starts: int

    @property
    def n_clusters(self) -> int:
        """Number of classes."""
        return len(np.unique(self.target))

    def scores(self, labels: np.ndarray) -> np.ndarray:
        """Accuracy, NMI and purity in per cent."""
        found = (
            clustering_accuracy(self.target, labels),
            normalized_mutual_info(self.target, labels, average_method="max"),
            purity_score(self.target, labels),
        )
        return 100 * np.array(found)

    def starts(self, embedding: np.ndarray, init: str = "k-means++") -> np.ndarray:
        """Scores of every start of k-means on the rows of an embedding, scaled to length one; the lowest cost first."""
        rows = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
        runs = [
            KMeans(self.n_clusters, init=init, n_init=1, random_state=seed).fit(rows) for seed in range(self.n_starts)
        ]
        return np.array([self.scores(run.labels_) for run in sorted(runs, key=lambda run: run.inertia_)])

    def fitted(self, method: str, **parameters: object):
        """A comparison method on these kernels."""
        model = METHODS[method](self.n_clusters, similarity="precomputed", n_init=1, random_state=0, **parameters)
        return model.fit(self.kernels)

    def printed(self, method: str, table: str = "kernel") -> str:
        """What the paper prints."""
        values = [printed_value(table, self.name, method, metric).value for metric in ("accuracy", "nmi", "purity")]
        return f"printed {in_words(values)}"


def in_words(scores) -> str:
    """Accuracy, NMI and purity."""
    return " / ".join(f"{value:.2f}" for value in scores)


def is_share(value: float, n_samples: int) -> bool:
    """Whether a percentage with two digits can be the share of a whole number of samples."""
    return any(abs(round(100 * count / n_samples, 2) - value) < 0.0051 for count in range(n_samples + 1))


def one_view_of_crsc(problem: Problem) -> str:
    """CRSC as its authors' code has it: k-means sees the embedding of the first view only."""
    embeddings = problem.fitted("CRSC").view_embeddings_
    first = problem.starts(embeddings[0], init="random").mean(axis=0)
    every = problem.starts(np.concatenate(embeddings, axis=1)).mean(axis=0)
    n_samples = len(problem.target)
    printed = [printed_value("kernel", problem.name, "CRSC", metric).value for metric in ("accuracy", "purity")]
    odd = " and ".join(f"{value:.2f}" for value in printed if not is_share(value, n_samples))
    return (
        f"one view, one start: no number of {n_samples} samples is {odd} per cent, so the paper prints a mean. The "
        f"authors' code gives k-means the embedding of the first view only; there, from random centres and at λ = "
        f"0.01, one start gives {in_words(first)} on average ({problem.printed('CRSC')}). With the embeddings of all "
        f"views and k-means++ it gives {in_words(every)}, and the best of all starts is higher still"
    )


def robust_restarts(problem: Problem) -> str:
    """RMKKM on kernels that are scaled but not centred, as its authors do; the restart of lowest objective."""
    kernels = [normalize_kernel(kernel) for kernel in problem.kernels]
    runs = [
        solve_rmkkm(kernels, problem.n_clusters, random_state=check_random_state(seed))
        for seed in range(problem.n_starts)
    ]
    scores = np.array([problem.scores(run.labels) for run in runs])
    lowest = int(np.argmin([run.objective[-1] for run in runs]))
    return (
        f"choice of the restart: on kernels that are not centred, as its authors use them, and at γ = 0.3, which they "
        f"suggest, the restart with the lowest objective of {problem.n_starts} gives {in_words(scores[lowest])} "
        f"({problem.printed('RMKKM')}); the mean is {in_words(scores.mean(axis=0))} and the best "
        f"{in_words(scores.max(axis=0))}. Our column is the best of all restarts and nine values of γ"
    )


def price_of_rmsc(problem: Problem) -> str:
    """RMSC over its grid of λ, one start on average."""
    grid = METHODS["RMSC"].parameter_grid["regularization"]
    means = {
        price: problem.starts(problem.fitted("RMSC", regularization=price).consensus_).mean(axis=0) for price in grid
    }
    quoted = problem.starts(problem.fitted("RMSC", regularization=0.005).consensus_).mean(axis=0)
    best = max(means, key=lambda price: means[price][0])
    printed = printed_value("kernel", problem.name, "RMSC", "accuracy").value
    near = sum(abs(found[0] - printed) <= 4 for found in means.values())
    return (
        f"choice of λ: at λ = 0.005, the value usually quoted, one start gives {in_words(quoted)} on average "
        f"({problem.printed('RMSC')}), and at {near} of the {len(grid)} values of our grid its accuracy is within 4 "
        f"points of the printed one. It is highest at λ = 2^{np.log2(best):.0f}, with {means[best][0]:.2f}, and the "
        f"classes choose the best λ and start"
    )


def neighborhood_of_lkam(problem: Problem) -> str:
    """LKAM at one setting for all data sets, and over its grid of τ."""
    sizes = METHODS["LKAM"].parameter_grid["neighborhood"]
    means = {
        size: problem.starts(problem.fitted("LKAM", regularization=1.0, neighborhood=size).consensus_).mean(axis=0)
        for size in sizes
    }
    best = max(means, key=lambda size: means[size][0])
    return (
        f"fixed parameters: at τ = 0.25 and λ = 1, on AR10P and YALE alike, one start gives {in_words(means[0.25])} on "
        f"average ({problem.printed('LKAM')}). Our grid goes on to τ = {sizes[-1]:g}; at λ = 1 the mean rises to "
        f"{in_words(means[best])} at τ = {best:g}, and the classes choose the best λ and start as well"
    )


def kernels_as_graphs(problem: Problem) -> str:
    """SWMC with the kernels themselves as graphs."""
    _, state = solve_swmc([scipy.sparse.csr_array(kernel) for kernel in problem.kernels], problem.n_clusters)
    largest = np.bincount(state.labels).max()
    return (
        f"graphs: with the kernels themselves as graphs, as they are in the file, our solver gives "
        f"{in_words(problem.scores(state.labels))} ({problem.printed('SWMC', 'swmc')}); the largest of its "
        f"{state.n_components} clusters holds {largest} of {len(problem.target)} samples. Graphs "
        f"of nearest neighbours, which the method's authors use and we take, are better"
    )


def size_of_the_search(problem: Problem) -> str:
    """LF-MVC-LAM over its grid: how many points reach the printed value."""
    grid = CONTENDERS[LAM].grid
    printed = printed_value("kernel", problem.name, LAM, "accuracy").value
    best = {}
    for init in ("align", "identity"):
        model = LocalAlignmentClustering(problem.n_clusters, similarity="precomputed", init=init)
        paths = model.neighborhood_path(problem.kernels, grid["neighborhood"], grid["regularization"])
        found = np.array([problem.starts(point.consensus)[:, 0] for path in paths.values() for point in path])
        best[init] = found.max()
        if init == "align":
            reached = np.sum(found[:, 0] >= printed - 0.005), np.sum(found.max(axis=1) >= printed - 0.005)
    return (
        f"size of the search: ours is the best of {found.size} labelings, {problem.n_starts} starts at {len(found)} "
        f"points of the grid ({problem.printed(LAM)}). With other starts, {reached[0]} of the points reach the printed "
        f"accuracy by the start of lowest cost and {reached[1]} by their best start; the best of all is then "
        f"{best['align']:.2f}, and {best['identity']:.2f} with rotations that start at the identity, as the paper's do"
    )


EXPERIMENTS = {
    ("AR10P", "CRSC"): one_view_of_crsc,
    ("YALE", "CRSC"): one_view_of_crsc,
    ("YALE", "RMKKM"): robust_restarts,
    ("AR10P", "RMSC"): price_of_rmsc,
    ("AR10P", "LKAM"): neighborhood_of_lkam,
    ("YALE", "LKAM"): neighborhood_of_lkam,
    ("AR10P", "SWMC"): kernels_as_graphs,
    ("YALE", LAM): size_of_the_search,
}


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    problems = {}
    for name, file in FILES.items():
        data = load_views(args.data / file)
        problems[name] = Problem(name, [np.asarray(one, float) for one in data.views.arrays], data.target, args.starts)
    rows = []
    for (name, method), experiment in EXPERIMENTS.items():
        rows.append([name, method, experiment(problems[name])])
        print(": ".join(rows[-1]), flush=True)
    if args.output:
        with args.output.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows([["dataset", "method", "reason"], *rows])


if __name__ == "__main__":
    main()
