"""The least that clustering six views of the UCI digits can cost, beside spectral clustering of their concatenation.

usage: python benchmarks/digits_floor.py DATA_DIR [--output FILE.json]

`peers.py` asks for a late fusion that is quicker than one graph of all columns side by side, and more accurate. This
script measures the parts that no fusion of graphs can do without, each with the quickest routine we know and nothing
checked: neighbours of every sample in every view (single precision, all threads), a graph per view, its leading
eigenvectors to three digits, their common directions, and k-means. All get the z-scored views, as in `peers.py`; the
shortest of several runs counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from latefusion.metrics import clustering_accuracy
from measuring import best_seconds, save
from peers import concatenated, standardized

N_NEIGHBORS = 10
REPEATS = 7


def neighbors_of(views):
    """Nearest samples of every sample, view by view; the sample itself is left out."""
    return [
        NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute").fit(view).kneighbors(return_distance=False)
        for view in views
    ]


def graph_of(neighbors):
    """Normalised symmetric graph."""
    n_samples, width = neighbors.shape
    starts = np.arange(0, neighbors.size + 1, width)
    links = sp.csr_array((np.ones(neighbors.size, np.float32), neighbors.ravel(), starts), shape=(n_samples, n_samples))
    links = links + links.T
    scale = sp.diags_array(1 / np.sqrt(links.sum(axis=1)))
    return (scale @ links @ scale).tocsr().astype(np.float32)


def leading(graphs, n_clusters):
    """Leading eigenvectors of every graph, to three digits."""
    start = np.ones(graphs[0].shape[0], np.float32)
    return [eigsh(graph, n_clusters, v0=start, tol=1e-3)[1] for graph in graphs]


def common_directions(vectors, n_clusters):
    """Left singular vectors of all of them side by side, with rows of norm one."""
    beside = np.hstack(vectors)
    _, turned = np.linalg.eigh(beside.T @ beside)
    rows = beside @ turned[:, -n_clusters:]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main():
    """Measure part by part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    with np.load(args.data / "mfeat.npz", allow_pickle=False) as data:
        views = [standardized(data[f"view_{p}"].astype(np.float64)) for p in range(len(data["names"]))]
        target = data["y"]
    n_clusters = len(np.unique(target))
    spectral = concatenated("SpectralClustering", affinity="nearest_neighbors", n_neighbors=20)()
    whole, labels = best_seconds(lambda: spectral(views, n_clusters), repeats=REPEATS)
    rows = [{"part": "spectral clustering of the concatenation", "seconds": whole}]
    print(f"{rows[0]['part']}: {whole:.3f} s, ACC {clustering_accuracy(target, labels):.4f}")

    def step(name, function):
        seconds, found = best_seconds(function, repeats=REPEATS)
        rows.append({"part": name, "seconds": seconds})
        print(f"  {name}: {seconds:.3f} s")
        return found

    single = [view.astype(np.float32) for view in views]
    neighbors = step("neighbours in six views", lambda: neighbors_of(single))
    graphs = step("six graphs", lambda: [graph_of(one) for one in neighbors])
    vectors = step("leading eigenvectors", lambda: leading(graphs, n_clusters))
    fused = step("common directions", lambda: common_directions(vectors, n_clusters))
    kmeans = KMeans(n_clusters, n_init=10, random_state=0)
    labels = step("k-means", lambda: kmeans.fit_predict(fused))
    floor = sum(row["seconds"] for row in rows[1:])
    accuracy = clustering_accuracy(target, labels)
    print(f"all parts: {floor:.3f} s, {floor / whole:.2f} of the former, ACC {accuracy:.4f}")
    save(args.output, rows, floor=floor, ratio=floor / whole, ACC=accuracy)


if __name__ == "__main__":
    main()
