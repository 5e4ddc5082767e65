"""Alignment of chunked views: the labels in memory, whatever the chunks, in a known number of passes."""

from collections import Counter

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from latefusion import distributed
from latefusion.distributed import passes
from latefusion.distributed.stores import chunked_views

UNEQUAL = (1, 249, 3, 1, 46, 300)
CHUNKINGS = {
    "one chunk": 600,
    "equal": 50,
    "unequal": [UNEQUAL, UNEQUAL[::-1], (600,)],
    "out of line": [70, 333, 500],
    "one row each": 1,
}


@pytest.fixture(scope="module")
def in_memory(planted):
    views, _ = planted
    return lf.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(views)


@pytest.mark.parametrize("name", CHUNKINGS)
def test_labels_are_those_in_memory_for_any_chunks(name, planted, chunked):
    views = {key: view[:600] for key, view in planted[0].items()}
    options = {"n_clusters": 4, "similarity": lf.KernelSimilarity("linear", method="factor"), "random_state": 0}
    expected = lf.GlobalAlignmentClustering(**options).fit(views)
    model = distributed.GlobalAlignmentClustering(**options).fit(chunked(views, CHUNKINGS[name]))
    assert adjusted_rand_score(model.labels_.compute(), expected.labels_) >= 0.999
    np.testing.assert_allclose(model.view_weights_, expected.view_weights_, atol=1e-9)
    np.testing.assert_allclose(model.objective_, expected.objective_, rtol=1e-9)
    np.testing.assert_allclose(model.agreement_, expected.agreement_, atol=1e-9)
    assert model.partition_info_ == expected.partition_info_


@pytest.mark.parametrize("estimator", ["GlobalAlignmentClustering", "LocalAlignmentClustering"])
@pytest.mark.parametrize("similarity", ["kernel", "graph"])
def test_with_many_samples_kernels_and_graphs_are_those_in_memory(estimator, similarity, many, chunked):
    views, target = many
    options = {"n_clusters": 4, "similarity": similarity, "random_state": 0}
    expected = getattr(lf, estimator)(**options).fit(views)
    model = getattr(distributed, estimator)(**options).fit(chunked(views, [400, 350, 300]))
    labels = model.labels_.compute()
    assert adjusted_rand_score(labels, expected.labels_) >= 0.999
    assert adjusted_rand_score(labels, target) > 0.95
    np.testing.assert_allclose(model.view_weights_, expected.view_weights_, atol=1e-6)
    assert (model.predict({name: view[:500] for name, view in views.items()}) == labels[:500]).mean() > 0.99


@pytest.fixture(scope="module")
def holes(planted):
    """The views with rows of NaN, where the mask says that samples lack them; and the mask."""
    seen = np.random.default_rng(0).random((1200, 3)) < 0.7
    seen[~seen.any(axis=1), 0] = True
    return {
        name: np.where(own[:, None], view, np.nan) for (name, view), own in zip(planted[0].items(), seen.T, strict=True)
    }, seen


SIMILARITIES_BY_NAME = [
    lf.KernelSimilarity("linear", method="factor"),
    lf.KernelSimilarity(method="factor", n_landmarks=100),
    lf.GraphSimilarity(method="anchors", n_anchors=60),
]


HOLEY = [(one, [UNEQUAL * 2, (1200,), 333]) for one in SIMILARITIES_BY_NAME] + [
    (SIMILARITIES_BY_NAME[0], size) for size in (1200, 100, 5)
]


@pytest.mark.parametrize(("similarity", "chunks"), HOLEY)
def test_samples_that_lack_views_are_clustered_as_in_memory(similarity, chunks, holes, chunked):
    views, seen = holes
    expected = lf.GlobalAlignmentClustering(4, similarity=similarity, random_state=0).fit(views)
    model = distributed.GlobalAlignmentClustering(4, similarity=similarity, random_state=0).fit(chunked(views, chunks))
    assert adjusted_rand_score(model.labels_.compute(), expected.labels_) >= 0.999
    for name in ("view_weights_", "objective_", "agreement_"):
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), atol=1e-9, err_msg=name)
    np.testing.assert_allclose(model.confidence_.compute(), expected.confidence_, atol=1e-9)
    np.testing.assert_array_equal(model.observed_.compute(), seen)
    np.testing.assert_array_equal(model.n_observed_views_.compute(), seen.sum(axis=1))
    for one, other in zip(model.partitions_, expected.partitions_, strict=True):
        one = one.compute()
        np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)
    np.testing.assert_allclose(model.transform(views), model.consensus_.compute(), atol=1e-9)


def test_a_mask_says_the_same_as_rows_of_nan(planted, holes, chunked):
    """Of dense and sparse chunks, for training and for new samples."""
    views, seen = holes
    options = {"n_clusters": 4, "kernel": "linear", "random_state": 0}
    expected = distributed.GlobalAlignmentClustering(**options).fit(chunked(views))
    masked = lf.Views(chunked(planted[0], [300, 500, 170]), mask=seen)
    sparse = {name: scipy.sparse.csr_array(view) for name, view in planted[0].items()}
    masked_sparse = lf.Views(chunked(sparse, 300), mask=seen)
    for training in (masked, masked_sparse):
        model = distributed.GlobalAlignmentClustering(**options).fit(training)
        assert adjusted_rand_score(model.labels_.compute(), expected.labels_.compute()) >= 0.999
        np.testing.assert_array_equal(model.predict(masked).compute(), model.labels_.compute())


def test_local_alignment_of_sparse_chunks_labels_sparse_samples(planted, chunked):
    """The features of sparse samples are products with the mean taken away; those of the training samples are dense."""
    sparse = {name: scipy.sparse.csr_array(np.maximum(view, 0)) for name, view in planted[0].items()}
    cut = {name: da.from_array(view, chunks=(400, -1), asarray=False) for name, view in sparse.items()}
    model = distributed.LocalAlignmentClustering(4, kernel="linear", random_state=0).fit(cut)
    assert (model.predict(sparse) == model.labels_.compute()).mean() > 0.99  # counts may differ at a rim


def test_samples_that_lack_views_cost_one_more_pass(holes):
    counted = Counter()
    model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(counting(holes[0], counted))
    assert {*counted.values()} == {4}
    dask.compute(model.labels_, model.confidence_, model.consensus_)
    assert {*counted.values()} == {5}


def test_what_cannot_be_done_with_samples_that_lack_views_is_refused_by_name(holes, chunked):
    views, _ = holes
    first, second, _ = views
    lacking = rf"Some samples have missing views.*'{first}': \d+, '{second}': \d+"
    with pytest.raises(ValueError, match=lacking + r".*missing='impute'.*Use missing='zero'"):
        distributed.GlobalAlignmentClustering(4, missing="impute").fit(chunked(views))
    with pytest.raises(ValueError, match=lacking + ".*GlobalAlignmentClustering"):
        distributed.LocalAlignmentClustering(4).fit(chunked(views))
    with pytest.raises(ValueError, match="All views are missing for"):
        distributed.GlobalAlignmentClustering(4).fit(chunked({first: views[first]}))


@pytest.mark.parametrize("name", ["GlobalAlignmentClustering", "LocalAlignmentClustering"])
def test_chunked_views_are_not_put_side_by_side(planted, chunked, name):
    views, _ = planted
    with pytest.raises(ValueError, match=r"reference='graph' .* in memory.*reference='mean'"):
        getattr(distributed, name)(4, reference="graph").fit(chunked(views))
    model = getattr(distributed, name)(4, reference="graph", random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(chunked(views)).compute(), model.labels_)


def counting(views, seen, size=300):
    """Views whose chunks say when they are read."""

    def read(block, view, block_info=None):
        seen[view, block_info[0]["chunk-location"][0]] += 1
        return block

    return {
        name: da.from_array(view, chunks=(size, -1)).map_blocks(read, name, meta=view[:0])
        for name, view in views.items()
    }


PASSES = [
    ("GlobalAlignmentClustering", {"kernel": "linear"}, 3),
    ("GlobalAlignmentClustering", {}, 3),
    ("GlobalAlignmentClustering", {"similarity": lf.GraphSimilarity(n_anchors=60)}, 3),
    ("LocalAlignmentClustering", {"kernel": "linear"}, 4),
    ("LateFusionClustering", {"similarity": "kernel", "assign_labels": "kmeans"}, 3),
    ("LateFusionClustering", {"similarity": "kernel"}, 2),
]


@pytest.mark.parametrize(("estimator", "options", "n_passes"), PASSES)
def test_every_chunk_is_read_as_often_as_documented(estimator, options, n_passes, planted):
    views, _ = planted
    seen = Counter()
    model = getattr(distributed, estimator)(4, random_state=0, **options).fit(counting(views, seen))
    assert seen == {(name, chunk): n_passes for name in views for chunk in range(4)}
    model.labels_.compute()
    assert {*seen.values()} == {n_passes + 1}


def test_consensus_rows_that_are_not_kept_cost_one_pass_per_iteration_of_kmeans(planted, monkeypatch):
    views, _ = planted
    monkeypatch.setattr(passes, "memory_of_workers", lambda: 0.0)
    names = []
    run = passes.run
    monkeypatch.setattr(passes, "run", lambda result, views, name: names.append(name) or run(result, views, name))
    seen = Counter()
    distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(counting(views, seen))
    assert names[:2] == ["statistics", "products"]
    assert {*seen.values()} == {2 + names.count("k-means")}
    assert names.count("k-means") < 10


def test_nothing_of_the_size_of_a_chunk_comes_to_the_client(planted, chunked, monkeypatch):
    """But for the sampled rows, whose number does not grow with the samples."""
    from dask.sizeof import sizeof

    views, _ = planted
    sizes = {}
    run = passes.run

    def weigh(result, views, name):
        found = run(result, views, name)
        sizes[name] = sum(sizeof(part) for one in found for part in (one if isinstance(one, tuple) else [one]))
        return found

    monkeypatch.setattr(passes, "run", weigh)
    distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(chunked(views, 600))
    assert sizes["products"] <= 8 * 30**2 + 8 * 30 + 500
    assert sizes["k-means"] <= 10 * 8 * 4 * (4 + 2) + 500


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_precision_stays_and_gives_the_same_clusters(dtype, planted, chunked, in_memory):
    views, _ = planted
    cut = chunked({name: view.astype(dtype) for name, view in views.items()})
    model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(cut)
    assert model.consensus_.dtype == model.consensus_.compute().dtype == dtype
    assert adjusted_rand_score(model.labels_.compute(), in_memory.labels_) >= 0.999


@pytest.mark.parametrize(
    "similarity",
    [
        lf.KernelSimilarity("linear", method="factor"),
        lf.KernelSimilarity(method="factor", n_landmarks=100),
        lf.GraphSimilarity(method="anchors", n_anchors=60),
    ],
)
def test_sparse_chunks_give_the_clusters_of_sparse_matrices(similarity, many):
    views = {name: scipy.sparse.csr_array(np.maximum(view, 0.0)) for name, view in many[0].items()}
    expected = lf.GlobalAlignmentClustering(4, similarity=similarity, random_state=0).fit(views)
    cut = {name: da.from_array(view, chunks=(300, -1), asarray=False) for name, view in views.items()}
    model = distributed.GlobalAlignmentClustering(4, similarity=similarity, random_state=0).fit(cut)
    np.testing.assert_allclose(model.view_weights_, expected.view_weights_, atol=1e-6)
    assert adjusted_rand_score(model.labels_.compute(), expected.labels_) >= 0.999


def test_files_larger_than_a_chunk_are_clustered_without_a_cluster(planted, in_memory, tmp_path, monkeypatch):
    """Out of core: memory-mapped arrays and Zarr, with the threads of this machine."""
    monkeypatch.setattr("latefusion.distributed.stores.CHUNK_BYTES", 10_000)
    views, _ = planted
    first, second, third = views
    np.save(tmp_path / "a.npy", views[first])
    zarr.create_array(str(tmp_path / "b.zarr"), data=views[second], chunks=(250, 10))
    stores = {
        first: np.load(tmp_path / "a.npy", mmap_mode="r"),
        second: tmp_path / "b.zarr",
        third: views[third],
    }
    model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(stores)
    assert adjusted_rand_score(model.labels_.compute(), in_memory.labels_) >= 0.999


@pytest.mark.parametrize("estimator", ["GlobalAlignmentClustering", "LocalAlignmentClustering", "LateFusionClustering"])
def test_every_kind_of_store_is_a_view(estimator, planted, tmp_path):
    """Zarr stores and Parquet folders by path, open Zarr arrays and memory maps, data frames and arrays of Dask."""
    views = {name: view[:300] for name, view in planted[0].items()}
    first, second, third = views
    frames = {name: pd.DataFrame(view, columns=[f"c{column}" for column in range(10)]) for name, view in views.items()}
    zarr.create_array(str(tmp_path / "a.zarr"), data=views[first], chunks=(70, 10))
    dd.from_pandas(frames[second], npartitions=3).to_parquet(tmp_path / "b.parquet")
    np.save(tmp_path / "c.npy", views[third])
    ways = [
        {first: tmp_path / "a.zarr", second: str(tmp_path / "b.parquet"), third: str(tmp_path / "c.npy")},
        {
            first: zarr.open_array(str(tmp_path / "a.zarr")),
            second: dd.from_pandas(frames[second], npartitions=4),
            third: np.load(tmp_path / "c.npy", mmap_mode="r"),
        },
        {name: da.from_array(view, chunks=(100, -1)) for name, view in views.items()},
    ]
    fitted = [getattr(distributed, estimator)(4, kernel="linear", random_state=0).fit(way) for way in ways]
    expected, *others = [model.labels_.compute() for model in fitted]
    for labels in others:
        assert adjusted_rand_score(labels, expected) >= 0.999
    assert {view.name: view.columns for view in fitted[0].input_schema_.views if view.columns} == {
        second: list(frames[second])
    }
    np.testing.assert_array_equal(fitted[0].predict(ways[1]).compute(), expected)


def test_what_is_sent_to_the_scheduler_does_not_grow_with_the_files(planted, tmp_path, monkeypatch):
    """A graph holds names of files, and for every piece where it begins."""
    monkeypatch.setattr("latefusion.distributed.stores.CHUNK_BYTES", 8 * 10 * 2000)
    monkeypatch.setattr("latefusion.distributed.chunks.LEAST_ENTRIES", 2**20)
    sizes = {}
    for n_rows in (4000, 64_000):
        np.save(tmp_path / f"{n_rows}.npy", np.random.default_rng(0).standard_normal((n_rows, 10)))
        zarr.create_array(str(tmp_path / f"{n_rows}.zarr"), shape=(n_rows, 10), chunks=(n_rows // 2, 10), dtype="f8")
        views = chunked_views([tmp_path / f"{n_rows}.npy", tmp_path / f"{n_rows}.zarr"])
        nodes = views.tasks(len, None, "latefusion-test")
        sizes[n_rows] = len(cloudpickle.dumps(nodes)) / len(views.piece_rows)
    assert len(views.piece_rows) == 2
    assert sizes[64_000] < 2**15 < 64_000 * 80 / 2


def test_a_corrupt_chunk_of_a_store_is_named(planted, chunked, tmp_path):
    views, _ = planted
    first, *_ = views
    zarr.create_array(str(tmp_path / "a.zarr"), data=views[first], chunks=(300, 10))
    (chunk,) = (tmp_path / "a.zarr" / "c" / "2").iterdir()
    chunk.write_bytes(chunk.read_bytes()[:100])
    with pytest.raises(distributed.ChunkError, match=rf"View '{first}', chunk 2 \(rows 600 to 899\)"):
        distributed.GlobalAlignmentClustering(4, kernel="linear").fit({**chunked(views), first: tmp_path / "a.zarr"})


def test_labels_by_other_rules_are_good_as_well(planted, chunked):
    views, target = planted
    model = distributed.GlobalAlignmentClustering(4, kernel="linear", assign_labels="rotation", random_state=0)
    assert adjusted_rand_score(model.fit_predict(chunked(views)).compute(), target) > 0.95


def test_what_needs_partitions_in_memory_says_so(planted, chunked):
    views, _ = planted
    model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(chunked(views))
    with pytest.raises(ValueError, match="fitted on chunked views"):
        model.objective_gap()
    assert 0 < model.generalization_bound() < 10


def test_the_class_in_memory_names_this_one(planted, chunked):
    views, _ = planted
    with pytest.raises(ValueError, match=r"latefusion\.distributed"):
        lf.GlobalAlignmentClustering(4).fit(chunked(views))


@pytest.mark.parametrize("holes", [False, True])
def test_novelty_is_lazy_and_that_of_the_fitted_map(holes, planted, chunked):
    views = {name: view.copy() for name, view in planted[0].items()}
    if holes:
        next(iter(views.values()))[::4] = np.nan
    model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(chunked(views))
    assert isinstance(model.novelty_, da.Array)
    _, expected = model.in_memory().predict(views, return_novelty=True)
    np.testing.assert_allclose(model.novelty_.compute(), expected, rtol=1e-6)
    assert np.mean(expected > 1) < 0.05
