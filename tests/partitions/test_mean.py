"""Factors and graphs side by side: eigenvectors of every similarity and of their mean, as if all were formed."""

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from latefusion import GlobalAlignmentClustering, LocalAlignmentClustering
from latefusion.datasets import make_views
from latefusion.partitions import fit_base_partitions
from latefusion.partitions.mean import (
    inverse_roots,
    mean_operator,
    put_side_by_side,
    scatter_features,
    scatter_similarity,
)
from latefusion.partitions.neighborhoods import count_neighbors
from latefusion.partitions.spectra import feature_matrix, scatter_rows
from latefusion.similarities import GraphSimilarity, KernelSimilarity
from tests.partitions.rows import extend

VIEWS = make_views(700, 4, n_views=4, n_features=[30, 40, 5, 6], random_state=0).views.arrays
THIN = sp.csr_array(np.where(VIEWS[1] > 0.5, VIEWS[1], 0.0))
SIMILARITIES = {
    "dense": (VIEWS[0], KernelSimilarity("linear", method="factor")),
    "sparse": (THIN, KernelSimilarity("linear", method="factor")),
    "nystrom": (VIEWS[3], KernelSimilarity(method="factor", n_landmarks=60)),
    "anchors": (VIEWS[2], GraphSimilarity(method="anchors", n_anchors=60)),
    "graph": (VIEWS[2], GraphSimilarity()),
    "other graph": (VIEWS[3], GraphSimilarity(5)),
}
MIXTURES = [
    ("sparse",),
    ("sparse", "sparse"),
    ("dense", "sparse"),
    ("dense", "graph"),
    ("sparse", "graph"),
    ("anchors", "graph"),
    ("graph", "other graph"),
    ("anchors", "dense"),
    ("dense", "sparse", "nystrom", "anchors", "graph", "other graph"),
]


def projector(vectors):
    return vectors @ vectors.T


def formed(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@pytest.mark.parametrize("names", MIXTURES, ids="-".join)
@pytest.mark.parametrize("n_neighbors", [None, 200])
def test_mixtures_equal_the_eigenvectors_of_formed_matrices(names, n_neighbors):
    views, similarities = zip(*(SIMILARITIES[name] for name in names), strict=True)
    base = fit_base_partitions(views, similarities, 4, n_neighbors=n_neighbors)
    matrices = [formed(one.similarity(view, 4)[0]) for view, one in zip(views, similarities, strict=True)]
    found = [*base.vectors, base.mean.rows]
    for similarity, matrix in zip(found, [*matrices, np.mean(matrices, axis=0)], strict=True):
        expected = np.linalg.eigh(matrix)[1][:, -4:]
        np.testing.assert_allclose(projector(similarity), projector(expected), atol=1e-8)
    rows = extend(base, [view[50:90] for view in views])
    for similarity, extended in zip(found, [*rows.vectors, rows.mean.rows], strict=True):
        np.testing.assert_allclose(extended, similarity[50:90], atol=1e-7)
    if n_neighbors is not None:
        extensions = [block.extension for block in base.blocks]
        closeness = [one.closeness(view) for one, view in zip(extensions, views, strict=True)]
        for neighbors, counts, similarity in zip(
            base.counts, rows.counts, [*closeness, np.mean(closeness, axis=0)], strict=True
        ):
            np.testing.assert_array_equal(neighbors.counts, count_neighbors(similarity, [n_neighbors])[0].counts)
            np.testing.assert_allclose(counts, neighbors.counts[50:90], rtol=1e-6)


@pytest.mark.parametrize("names", MIXTURES, ids="-".join)
def test_single_precision_is_kept(names):
    views, similarities = zip(*(SIMILARITIES[name] for name in names), strict=True)
    views = [view.astype(np.float32) for view in views]
    base = fit_base_partitions(views, similarities, 4, n_neighbors=200)
    double = fit_base_partitions([view.astype(np.float64) for view in views], similarities, 4)
    rows = extend(base, [view[:9] for view in views])
    for one in [
        *base.vectors,
        base.mean.rows,
        *(block.projection for block in base.blocks + base.mean.blocks),
        *rows.vectors,
        rows.mean.rows,
    ]:
        assert one.dtype == np.float32
    np.testing.assert_allclose(projector(base.mean.rows), projector(double.mean.rows), atol=2e-3)


def test_dense_kernels_among_factors_and_graphs():
    """A dense kernel makes the mean dense; nothing else changes."""
    names = ("dense", "sparse", "anchors", "graph")
    views, similarities = zip(*(SIMILARITIES[name] for name in names), strict=True)
    views, similarities = (*views, VIEWS[3]), (*similarities, KernelSimilarity())
    base = fit_base_partitions(views, similarities, 4, n_neighbors=100)
    matrices = [formed(one.similarity(view, 4)[0]) for view, one in zip(views, similarities, strict=True)]
    for similarity, matrix in zip([*base.vectors, base.mean.rows], [*matrices, np.mean(matrices, axis=0)], strict=True):
        expected = np.linalg.eigh(matrix)[1][:, -4:]
        np.testing.assert_allclose(projector(similarity), projector(expected), atol=1e-8)
    rows = extend(base, [view[50:90] for view in views])
    np.testing.assert_allclose(rows.mean.rows, base.mean.rows[50:90], atol=1e-7)
    for neighbors, counts in zip(base.counts, rows.counts, strict=True):
        np.testing.assert_allclose(counts, neighbors.counts[50:90], rtol=1e-6)


MASK = np.array([[1, 1], [0, 1], [1, 0], [1, 1], [0, 1], [1, 1], [1, 0]], dtype=bool)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_scattered_rows_are_a_matrix(convert):
    generator = np.random.default_rng(0)
    features, seen = generator.standard_normal((5, 3)), MASK[:, 0]
    dense = scatter_rows(features, seen) / np.sqrt(MASK.mean(axis=1))[:, None]
    operator = scatter_features(convert(features), MASK, 0)
    right, left = generator.standard_normal((3, 2)), generator.standard_normal((7, 2))
    np.testing.assert_allclose(operator @ right, dense @ right)
    np.testing.assert_allclose(operator.T @ left, dense.T @ left)
    np.testing.assert_allclose(operator.T @ left[:, :1], dense.T @ left[:, :1])  # SciPy treats one column as a vector


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_a_scattered_similarity_is_that_of_scattered_rows(convert):
    features = np.random.default_rng(0).standard_normal((5, 3))
    similarity = convert(features @ features.T)
    rows = inverse_roots(MASK)[:, None] * scatter_rows(features, MASK[:, 0])
    found = scatter_similarity(similarity, MASK, 0)
    np.testing.assert_allclose(found @ np.eye(7), rows @ rows.T, atol=1e-12)
    assert scatter_similarity(similarity, None, 0) is similarity


def features_of(name):
    view, similarity = SIMILARITIES[name]
    return feature_matrix(similarity.similarity(view, 4)[0])


def test_factors_side_by_side_are_one_factor():
    parts = [features_of(name) for name in ("dense", "sparse", "nystrom", "anchors")]
    stack = put_side_by_side(parts)
    explicit = np.hstack([part @ np.eye(part.shape[1]) for part in parts])
    right, left = np.random.default_rng(0).standard_normal((stack.shape[1], 3)), explicit[:, :3]
    np.testing.assert_allclose(stack @ right, explicit @ right, atol=1e-10)
    np.testing.assert_allclose(stack.T @ left, explicit.T @ left, atol=1e-10)
    np.testing.assert_allclose(stack.T @ left[:, :1], explicit.T @ left[:, :1], atol=1e-10)
    assert sp.issparse(put_side_by_side([features_of("anchors")] * 2))


def test_the_mean_operator_is_the_mean():
    names = ("dense", "anchors", "graph")
    matrices = [formed(similarity.similarity(view, 4)[0]) for view, similarity in map(SIMILARITIES.get, names)]
    graph = SIMILARITIES["graph"][1].similarity(SIMILARITIES["graph"][0], 4)[0]
    mean = mean_operator([features_of("dense"), features_of("anchors")], [graph])
    np.testing.assert_allclose(mean @ np.eye(700), np.mean(matrices, axis=0), atol=1e-12)
    np.testing.assert_allclose(mean @ np.ones(700), np.mean(matrices, axis=0).sum(axis=1), atol=1e-10)


@pytest.mark.parametrize(
    "names", [("sparse",), ("anchors", "anchors"), ("dense", "sparse", "anchors", "graph")], ids="-".join
)
@pytest.mark.parametrize(
    "model",
    [
        GlobalAlignmentClustering(4, random_state=0),
        LocalAlignmentClustering(4, random_state=0),
        LocalAlignmentClustering(4, count_samples=150, random_state=0),
    ],
    ids=["global", "local", "sampled"],
)
def test_training_samples_keep_their_labels(names, model):
    views, similarities = zip(*(SIMILARITIES[name] for name in names), strict=True)
    model = clone(model).set_params(similarity=list(similarities)).fit(list(views))
    np.testing.assert_array_equal(model.predict(list(views)), model.labels_)
    np.testing.assert_allclose(model.transform(list(views)), model.consensus_, atol=1e-6)


PEAKS = """
import json, resource
import numpy as np, scipy.sparse as sp
import latefusion as lf
from latefusion.similarities import GraphSimilarity, KernelSimilarity

n = 20_000
rng = np.random.default_rng(0)
y = rng.integers(4, size=n)
view = 4 * rng.standard_normal((4, 5))[y] + rng.standard_normal((n, 5))
sample, word = np.repeat(np.arange(n), 20), rng.integers(300, size=20 * n) + 300 * np.repeat(y, 20)
words = sp.csr_array((np.ones(20 * n), (sample, word)))
linear = KernelSimilarity("linear")
problems = {
    "linear": ([view, view[:, :3]], linear),
    "sparse linear": ([words, words], linear),
    "anchors": ([view, view[:, :3]], GraphSimilarity()),
    "nystrom": ([view, view[:, :3]], KernelSimilarity()),
    "mixed": ([view, words, view, view], [linear, linear, GraphSimilarity(method="exact"), GraphSimilarity()]),
}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peaks = {}
for name, (views, similarity) in problems.items():
    for estimator in (lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering):
        model = estimator(4, similarity=similarity, random_state=0, n_init=5).fit(views)
        assert (model.predict([v[:1000] for v in views]) == model.labels_[:1000]).all(), name
        assert lf.metrics.clustering_accuracy(y, model.labels_) > 0.9, name
        peaks[f"{name}, {estimator.__name__}"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps(peaks))
"""


def test_nothing_of_the_size_of_a_kernel_is_formed():
    """A kernel of 20 000 samples has 3200 MB. Fitting and predicting stay far below, in a process of their own.

    The peaks add up from one problem to the next, so the first that is too high is the one to blame.
    """
    done = subprocess.run([sys.executable, "-c", PEAKS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    peaks = {name: int(peak) * unit / 1e6 for name, peak in json.loads(done.stdout).items()}
    assert len(peaks) == 10
    assert max(peaks.values()) < 300, peaks
