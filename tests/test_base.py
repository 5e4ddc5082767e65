"""What all clusterers share: any input becomes the same views at fit and later, and no input gives NaN or a guess."""

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from latefusion import (
    GlobalAlignmentClustering,
    GraphSimilarity,
    KernelSimilarity,
    LateFusionClustering,
    LocalAlignmentClustering,
    Views,
    baselines,
)
from latefusion.arrays import memory
from latefusion.base import warn_not_converged
from latefusion.baselines import AverageKernelKMeans, IncompleteLateFusion
from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel, standardize_kernel
from latefusion.similarities import PrecomputedSimilarity
from latefusion.validation import per_view

METHODS = [GlobalAlignmentClustering, LocalAlignmentClustering]
DATA = make_views(40, 3, n_views=2, n_features=[4, 3], random_state=0)
A, B = DATA.views.arrays
FA, FB = pd.DataFrame(A, columns=list("abcd")), pd.DataFrame(B, columns=list("xyz"))


def locked(array):
    array = array.copy()
    array.setflags(write=False)
    return array


def mapped(folder, array):
    path = folder / "view.npy"
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def assert_sound(model, X, n_samples=40):
    """Labels for everybody, no NaN anywhere, and the same labels when the training samples come again."""
    assert model.labels_.shape == (n_samples,)
    assert set(model.labels_) <= set(range(model.n_clusters))
    for attribute in ("consensus_", "confidence_", "view_weights_", "objective_", "agreement_"):
        assert np.isfinite(getattr(model, attribute)).all(), attribute
    np.testing.assert_array_equal(model.predict(X), model.labels_)


KINDS = {
    "float16": lambda folder: [A.astype(np.float16), B.astype(np.float16)],
    "float32 and float64": lambda folder: [A.astype(np.float32), B],
    "longdouble": lambda folder: [A.astype(np.longdouble), B],
    "big endian": lambda folder: [A.astype(">f4"), B.astype(">f8")],
    "int8": lambda folder: [(A * 10).astype(np.int8), (B * 10).astype(np.int8)],
    "uint64": lambda folder: [(np.abs(A) * 10).astype(np.uint64), B],
    "locked": lambda folder: [locked(A), locked(B)],
    "memory map": lambda folder: [mapped(folder, A), B],
    "Fortran order": lambda folder: [np.asfortranarray(A), np.asfortranarray(B)],
    "strides": lambda folder: [np.repeat(A, 2, axis=1)[:, ::2], B[:, ::-1]],
    "nested lists": lambda folder: [A.tolist(), B.tolist()],
    "objects": lambda folder: [A.astype(object), B],
    "csr": lambda folder: [sp.csr_array(A), sp.csr_matrix(B)],
    "sparse and dense": lambda folder: [sp.coo_array(A), B],
    "pandas": lambda folder: [FA, FB],
    "integer columns": lambda folder: [pd.DataFrame(A), pd.DataFrame(B, columns=[9, 3, 5])],
    "pairs as columns": lambda folder: [FA.set_axis(pd.MultiIndex.from_product([["r"], list("abcd")]), axis=1), FB],
    "pairs as ids": lambda folder: [
        frame.set_axis(pd.MultiIndex.from_product([range(4), range(10)])) for frame in (FA, FB)
    ],
    "shuffled rows": lambda folder: [FA, FB.sample(frac=1.0, random_state=0)],
    "nullable": lambda folder: [FA.astype("Float64"), (FB * 10).round().astype("Int64")],
    "polars": lambda folder: [pl.DataFrame(A), pl.DataFrame(B)],
    "views": lambda folder: Views({"p": A, "q": B}, mask=np.ones((40, 2))),
    "large": lambda folder: [A * 1e140, B],
    "small": lambda folder: [A * 1e-140, B],
    "far from the origin": lambda folder: [A + 1e9, B - 1e7],
    "one table": lambda folder: np.hstack([A, B]),
    "one sparse table": lambda folder: sp.csr_matrix(np.hstack([A, B])),
    "one masked table without holes": lambda folder: np.ma.masked_array(A),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input_is_clustered(method, kind, tmp_path):
    X = KINDS[kind](tmp_path)
    for parameters in ({}, {"similarity": "graph"}, {"kernel": "linear"}):
        model = method(3, random_state=0, **parameters).fit(X)
        assert_sound(model, X)
        assert adjusted_rand_score(DATA.target, model.labels_) > 0.5


SHAPES = {
    "one column": ([A[:, :1], B[:, :1]], 3),
    "two samples": ([A[:2], B[:2]], 2),
    "two samples, one cluster": ([A[:2], B[:2]], 1),
    "one cluster": ([A, B], 1),
    "as many clusters as samples": ([A[:9], B[:9]], 9),
    "every row twice": ([np.repeat(A, 2, axis=0), np.repeat(B, 2, axis=0)], 3),
    "few distinct rows": ([np.repeat(A[:4], 10, axis=0), np.repeat(B[:4], 10, axis=0)], 4),
    "a column of ones": ([np.c_[A, np.ones(40)], B], 3),
    "the same view twice": ([A, A], 3),
    "fewer columns than clusters": ([A[:, :1], B], 5),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("similarity", ["kernel", "graph"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_clustered(method, similarity, shape):
    X, n_clusters = SHAPES[shape]
    assert_sound(method(n_clusters, random_state=0, similarity=similarity).fit(X), X, n_samples=len(X[0]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("similarity", ["kernel", "graph"])
@pytest.mark.parametrize(
    "X", [[A > 0, B > 0], [np.round(A), np.round(B)], [A[:, :1] > 0, B]], ids=["booleans", "coarse", "binary"]
)
def test_ties_everywhere_give_no_nan(method, similarity, X):
    """Equal samples may differ in their neighbor counts, which go to the lower index; their labels need not agree."""
    model = method(2, random_state=0, similarity=similarity).fit(X)
    assert np.isfinite(model.consensus_).all()
    assert np.isfinite(model.confidence_).all()
    assert set(model.labels_) == set(model.predict(X)) == {0, 1}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-290, 1.0, 1e140])
def test_kernels_of_every_scale_are_clustered(method, scale):
    kernels = np.stack([gaussian_kernel(A) * scale, gaussian_kernel(B)], axis=-1)
    model = method(3, similarity="precomputed", random_state=0).fit(kernels)
    np.testing.assert_array_equal(model.predict(kernels), model.labels_)
    np.testing.assert_array_equal(model.predict(kernels[5:9]), model.labels_[5:9])
    reference = method(3, random_state=0).fit([A, B])
    assert adjusted_rand_score(reference.labels_, model.labels_) == 1.0


def test_a_view_constant_up_to_rounding_is_an_error():
    for parameters in ({"kernel_params": {"sigma": 1e12}}, {"kernel": "polynomial"}):
        with pytest.raises(ValueError, match="constant up to rounding"):
            GlobalAlignmentClustering(3, **parameters).fit([A + 1e9, B + 1e9])


def test_what_a_fit_remembers():
    model = GlobalAlignmentClustering(3).fit({"p": FA.set_axis(range(100, 140)), "q": FB.set_axis(range(100, 140))})
    assert list(model.view_names_) == ["p", "q"]
    assert list(model.n_features_per_view_) == [4, 3]
    assert (model.n_views_, model.n_features_in_) == (2, 7)
    assert list(model.sample_ids_) == list(range(100, 140))
    table = GlobalAlignmentClustering(3, views={"p": list("ab"), "q": ["c"]}).fit(FA)
    assert (list(table.n_features_per_view_), table.n_features_in_) == ([2, 1], 4)
    assert list(table.feature_names_in_) == list("abcd")


def test_a_second_fit_forgets_the_first():
    model = GlobalAlignmentClustering(3).fit(FA)
    assert hasattr(model, "feature_names_in_")
    model.fit([FA.set_axis(range(100, 140)), FB.set_axis(range(100, 140))])
    assert not hasattr(model, "feature_names_in_")
    assert hasattr(model, "sample_ids_")
    model.fit([A, B])
    assert not hasattr(model, "sample_ids_")
    model.predict(
        [FB.set_axis(list("abc"), axis=1).assign(d=0.0), FB]
    )  # columns of the second fit do not matter either


def test_new_views_come_in_any_order_by_name():
    model = GlobalAlignmentClustering(3, random_state=0).fit({"p": A, "q": B})
    for X in (
        {"q": B, "p": A},
        [A, B],
        (FA, FB),
        Views([A, B]),
        Views([B, A], names=["q", "p"]),
        {"p": A, "q": B}.values(),
    ):
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_names_that_look_like_the_default_are_names():
    model = GlobalAlignmentClustering(3, random_state=0).fit({"view_1": A, "view_0": B})
    np.testing.assert_array_equal(model.predict([A, B]), model.labels_)
    np.testing.assert_array_equal(model.predict({"view_0": B, "view_1": A}), model.labels_)


def test_a_parameter_for_every_view():
    names = ["p", "q"]
    assert per_view("graph", names, "similarity") == ["graph", "graph"]
    assert per_view(["graph", "kernel"], names, "similarity") == ["graph", "kernel"]
    assert per_view({"q": "kernel", "p": "graph"}, names, "similarity") == ["graph", "kernel"]
    assert per_view({"q": "kernel"}, names, "similarity", default="auto") == ["auto", "kernel"]
    with pytest.raises(ValueError, match=r"no value for the views \['p'\]"):
        per_view({"q": 1.0}, names, "weights")


@pytest.mark.parametrize("method", [*METHODS, LateFusionClustering])
def test_a_mapping_may_name_some_views(method):
    """The others are "auto": numbers that are labels need a word, and features beside them none."""
    X = {"p": A, "q": B, "numbers": DATA.target, "text": [f"cluster {one}" for one in DATA.target]}
    model = method(3, similarity={"numbers": "labels"}, random_state=0).fit(X)
    whole = method(3, similarity=dict.fromkeys(X, "auto") | {"numbers": "labels"}, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    assert adjusted_rand_score(DATA.target, model.labels_) == 1.0


@pytest.mark.parametrize(
    "similarity",
    [
        ["kernel", "precomputed"],
        {"view_1": "precomputed", "view_0": "auto"},
        (GraphSimilarity(5), PrecomputedSimilarity()),
        [KernelSimilarity("laplace"), PrecomputedSimilarity(standardize=False)],
    ],
    ids=["list", "dict", "objects", "prepared"],
)
def test_features_and_kernels_side_by_side(similarity):
    kernel = standardize_kernel(gaussian_kernel(B))[0]
    model = GlobalAlignmentClustering(3, similarity=similarity, random_state=0).fit([A, kernel])
    np.testing.assert_array_equal(model.predict([A[3:8], kernel[3:8]]), model.labels_[3:8])
    assert adjusted_rand_score(DATA.target, model.labels_) > 0.5


def test_the_line_of_the_readme_about_clusterings_runs():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (line,) = [line for line in readme.splitlines() if line.startswith("| clusterings |")]
    consensus, among_features = line.split("`")[1::2]
    names = {"labels_a": DATA.target, "labels_b": DATA.target, "fitted_kmeans": KMeans(3, n_init=1).fit(A)}
    names |= {"memberships": np.eye(3)[DATA.target], "rna": A, "leiden": DATA.target, "lf": lf}
    for code in (consensus, among_features):
        assert len(eval(code, names).labels_) == 40


@pytest.mark.parametrize("method", [*METHODS, LateFusionClustering])
def test_columns_in_another_order_are_reordered_by_name(method):
    model = method(3, random_state=0).fit({"p": FA, "q": FB, "r": pl.DataFrame(B)})
    new = {"p": FA[list("dbca")], "q": FB, "r": pl.DataFrame(B)[["column_2", "column_0", "column_1"]]}
    with pytest.warns(UserWarning, match=r"View 'p' and View 'r' had the columns in another order") as warned:
        np.testing.assert_array_equal(model.predict(new), model.labels_)
    assert len(warned) == 1
    with pytest.warns(UserWarning, match="View 'p'"):
        np.testing.assert_array_equal(model.predict(Views(new)), model.labels_)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_of_one_table_are_reordered_by_name(kind):
    table = kind(dict(zip("abcdxyz", np.hstack([A, B]).T, strict=True)))
    model = GlobalAlignmentClustering(3, views={"p": slice(4), "q": ["x", "y", "z"]}, random_state=0).fit(table)
    with pytest.warns(UserWarning, match="X had the columns in another order"):
        np.testing.assert_array_equal(model.predict(table[list("zyxdcba")]), model.labels_)


def test_pairs_as_columns_are_views_at_fit_and_later():
    X = {"p": FA.set_axis(range(100, 140)), "q": FB.set_axis(range(100, 140))}
    table = pd.concat(X, axis=1)
    shuffled = table.iloc[:, np.random.default_rng(0).permutation(7)]
    reference = GlobalAlignmentClustering(3, random_state=0).fit(X)
    model = GlobalAlignmentClustering(3, random_state=0).fit(table)
    assert list(model.view_names_) == ["p", "q"]
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_array_equal(model.consensus_, reference.consensus_)
    assert list(model.sample_ids_) == list(range(100, 140))
    for fitted in (model, reference):
        np.testing.assert_array_equal(fitted.predict(table), model.labels_)
        with pytest.warns(UserWarning, match="another order"):
            np.testing.assert_array_equal(fitted.predict(shuffled), model.labels_)
    named = GlobalAlignmentClustering(3, views={"one": [("p", "a"), ("q", "x")], "two": [("p", "b")]}).fit(table)
    assert list(named.view_names_) == ["one", "two"]


def test_no_convergence_warns_with_advice():
    with pytest.warns(ConvergenceWarning, match=r"Method did not converge in 7 iterations. Raise max_iter or tol"):
        warn_not_converged("Method", 7)
    with pytest.warns(ConvergenceWarning, match=r"Method did not converge in 7 iterations. Try again"):
        warn_not_converged("Method", 7, "Try again.")


def test_tags():
    tags = AverageKernelKMeans().__sklearn_tags__()
    assert tags.input_tags.sparse
    assert not tags.input_tags.pairwise
    for similarity in ("precomputed", PrecomputedSimilarity()):
        assert AverageKernelKMeans(similarity=similarity).__sklearn_tags__().input_tags.pairwise


def test_a_sample_in_no_view_is_named():
    data = make_views(20, 2, random_state=0)
    mask = np.ones((20, 3), dtype=bool)
    mask[7] = False
    with pytest.raises(ValueError, match="All views are missing for 1 samples: sample 7"):
        IncompleteLateFusion(n_clusters=2).fit(Views(data.views.arrays, mask=mask))


@pytest.mark.parametrize("method", METHODS)
def test_partitions_that_do_not_fit_are_refused(monkeypatch, method):
    copies = 2 if method is LocalAlignmentClustering else 1
    size = 40 * (copies * 3 + 1) * 3 * 8
    factor = KernelSimilarity(method="factor")
    monkeypatch.setattr(memory, "available_memory", lambda like=None: size)
    method(3, similarity=factor, random_state=0).fit([A, B])
    monkeypatch.setattr(memory, "available_memory", lambda like=None: size - 1)
    with pytest.raises(MemoryError, match=r"Clustering 40 samples in 2 views.* float32 views"):
        method(3, similarity=factor).fit([A, B])


@pytest.mark.parametrize(
    "model",
    [GlobalAlignmentClustering(similarity=KernelSimilarity(method="exact")), AverageKernelKMeans()],
    ids=["GAM", "A-MKKM"],
)
def test_three_million_samples_are_refused_in_good_time(model):
    """Real sizes on the real machine: 65 TiB are nowhere, and the error comes before any of them is asked for."""
    view = np.random.default_rng(0).random((3_000_000, 2), dtype=np.float32)
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError, match=r"3000000 x 3000000 .* TiB of memory"):
            model.fit([view, view])
        assert tracemalloc.get_traced_memory()[1] < 2**28
    finally:
        tracemalloc.stop()


def test_partitions_of_a_view_stand_side_by_side():
    views = make_views(40, 3, random_state=0).views
    model = GlobalAlignmentClustering(3, random_state=0).fit(views)
    for found, own in zip(model.view_partitions(), model.partitions_, strict=True):
        np.testing.assert_array_equal(found, own)
    model = LateFusionClustering(3, random_state=0).fit(views)
    for name, found in zip(model.view_names_, model.view_partitions(), strict=True):
        own = [one for one, (view, _) in zip(model.partitions_, model.partition_names_, strict=True) if view == name]
        np.testing.assert_array_equal(found, np.hstack(own))
    bare = baselines.METHODS["concat-kmeans"](3, random_state=0).fit(views)
    assert bare.view_partitions() == [None] * 3
    assert np.all(bare.view_labels() == -1)


def test_single_view_labels_are_numbered_like_the_consensus():
    """A view that alone gives the consensus has its labels; what a sample lacks says nothing."""
    data = make_views(60, 3, separation=9.0, missing=0.3, random_state=0)
    model = GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    own = model.view_labels()
    np.testing.assert_array_equal(own >= 0, model.observed_)
    for view in range(3):
        have = model.observed_[:, view]
        assert np.mean(own[have, view] == model.labels_[have]) > 0.95


def test_a_view_of_few_samples_has_no_clusters_of_its_own():
    data = make_views(40, 3, random_state=0)
    mask = np.ones((40, 3), dtype=bool)
    model = GlobalAlignmentClustering(3, random_state=0).fit(Views(data.views.arrays, mask=mask))
    model.observed_ = mask.copy()
    model.observed_[2:, 0] = False
    assert np.all(model.view_labels()[:, 0] == -1)
    assert np.all(model.view_labels()[:, 1] >= 0)


def test_gaps_of_new_views_can_be_kept_and_given_views_are_as_given():
    X = {"a": np.arange(24.0).reshape(8, 3) % 7, "b": pd.DataFrame({"word": list("aabbaabb"), "x": np.sqrt(range(8))})}
    X["a"][2, 1] = np.nan
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(X)
    assert np.isfinite(model.new_views(X).arrays[0]).all()
    np.testing.assert_array_equal(model.new_views(X, keep_gaps=True).arrays[0], X["a"])
    given = model.given_views(X)
    assert given[[0, 3]].arrays[1]["word"].tolist() == ["a", "b"]
