"""What goes in and out of all estimators here: chunks or memory, lazy rows, small rest."""

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

import latefusion as lf
from latefusion import distributed
from latefusion.distributed import shell
from latefusion.distributed.first_pass import observed

ESTIMATORS = [distributed.GlobalAlignmentClustering, distributed.LocalAlignmentClustering]
FITS = [
    (distributed.GlobalAlignmentClustering, {}),
    (distributed.LocalAlignmentClustering, {}),
    (distributed.GlobalAlignmentClustering, {"similarity": "graph"}),
    (distributed.LateFusionClustering, {}),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_are_lazy_and_the_rest_is_not(estimator, planted, chunked):
    views, _ = planted
    model = estimator(4, kernel="linear", random_state=0).fit(chunked(views, 500))
    for name, value in vars(model).items():
        of_samples = [one for one in (value if isinstance(value, list) else [value]) if 1200 in np.shape(one)]
        assert all(isinstance(one, da.Array) for one in of_samples), name
    assert isinstance(model.labels_, da.Array)
    assert model.labels_.shape == (1200,)
    assert model.confidence_.shape == (1200,)
    assert model.consensus_.shape == (1200, 4)
    assert model.observed_.compute().all()
    assert isinstance(model.view_weights_, np.ndarray)
    again = clone(model)
    assert not hasattr(again, "labels_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_views_in_memory_are_fitted_in_memory(estimator, planted):
    views, _ = planted
    model = estimator(4, kernel="linear", random_state=0).fit(views)
    expected = getattr(lf, estimator.__name__)(4, kernel="linear", random_state=0).fit(views)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_a_fitted_model_takes_arrays_and_chunks(planted, chunked):
    views, _ = planted
    model = distributed.GlobalAlignmentClustering(4, kernel="linear", random_state=0).fit(chunked(views))
    labels = model.labels_.compute()
    np.testing.assert_array_equal(model.predict(views), labels)
    np.testing.assert_array_equal(model.predict(chunked(views, 77)).compute(), labels)
    np.testing.assert_allclose(model.transform(chunked(views, 77)).compute(), model.consensus_.compute(), atol=1e-12)


def test_very_wide_views_bring_fewer_rows_to_the_client(chunked, monkeypatch):
    views = distributed.stores.chunked_views(chunked({"a": np.zeros((1000, 8))}))
    monkeypatch.setattr(shell, "SUBSET_BYTES", 100 * 8 * 8)
    rows = shell.draw_start_rows(views, 3, np.random.RandomState(0))
    assert 50 <= len(rows) <= 100


def test_bad_parameters_are_refused_before_any_work(planted, chunked):
    views, _ = planted
    cut = chunked(views)
    for array in cut.values():
        assert array.dask  # nothing of it is computed below
    with pytest.raises(ValueError, match="views= splits the columns of one table in memory"):
        distributed.GlobalAlignmentClustering(4, views={"a": [0]}).fit(cut)
    with pytest.raises(ValueError, match="n_clusters"):
        distributed.GlobalAlignmentClustering(5000).fit(cut)
    with pytest.raises(ValueError, match="needs all samples at once"):
        distributed.GlobalAlignmentClustering(4, similarity="precomputed").fit(cut)
    with pytest.raises(ValueError, match="needs all samples at once"):
        distributed.LateFusionClustering(4, similarity="labels").fit(cut)


@pytest.mark.parametrize(("estimator", "options"), FITS)
def test_a_model_can_be_saved_and_used_without_dask(estimator, options, planted, chunked, tmp_path):
    views, _ = planted
    model = estimator(4, random_state=0, **options).fit(chunked({name: view[:900] for name, view in views.items()}))
    new = {name: view[900:] for name, view in views.items()}
    lf.save(model.in_memory(), tmp_path / "groups.model")
    again = lf.load(tmp_path / "groups.model")
    assert type(again) is getattr(lf, estimator.__name__)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(distributed.predict(again, chunked(new, 77)).compute(), model.predict(new))


@pytest.mark.parametrize("estimator", [*ESTIMATORS, distributed.LateFusionClustering])
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(estimator, planted, chunked):
    views = {name: view[:300] for name, view in planted[0].items()}
    broken = {name: np.where(np.arange(10) == 3, np.nan, view) for name, view in views.items()}
    model = estimator(4, random_state=0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(chunked(broken))
    assert vars(model) == vars(clone(model))
    model.fit(chunked(views))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(chunked({"other": broken[next(iter(broken))]}))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize("estimator", [*ESTIMATORS, distributed.LateFusionClustering])
def test_a_cluster_that_was_asked_for_and_is_not_there_is_missed(estimator, planted, chunked):
    with dask.config.set(scheduler="distributed"), pytest.raises(RuntimeError, match="there is no client"):
        estimator(4).fit(chunked(planted[0]))


def test_a_sample_is_trusted_by_the_weight_of_its_views():
    blocks = [np.array([[1.0], [np.nan], [2.0]]), np.array([[3.0], [4.0], [np.nan]])]
    np.testing.assert_array_equal(observed(blocks), [[1, 1], [0, 1], [1, 0]])
    trusted = shell.rows_with_confidence(
        lambda blocks, numbers: numbers[:, None], np.array([0.6, 0.8]), blocks, np.arange(3)
    )
    np.testing.assert_allclose(trusted, [[0, 1.0], [1, 0.8], [2, 0.6]])


@pytest.mark.parametrize("parameter", [{"column_kinds": {"x": "category"}}, {"missing_values": -999}])
def test_parameters_for_tables_are_refused_with_two_ways_out(parameter, planted, chunked):
    (name,) = parameter
    with pytest.raises(ValueError, match=f"^{name}= requires tables in memory") as caught:
        distributed.GlobalAlignmentClustering(4, **parameter).fit(chunked(planted[0]))
    assert f"for example by map_partitions, and leave {name} out" in str(caught.value)
    assert "Or fit latefusion.GlobalAlignmentClustering" in str(caught.value)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, distributed.LateFusionClustering])
def test_hints_need_views_in_memory(estimator, planted, chunked):
    views, _ = planted
    some = np.where(np.arange(1200) % 10 == 0, np.arange(1200) % 4, -1)
    for hints in ({"y": some}, {"y": {0: "a", 1: "b"}}, {"must_link": [(0, 1)]}, {"cannot_link": [(0, 1)]}):
        model = estimator(4, kernel="linear", random_state=0)
        with pytest.raises(ValueError, match=rf"{estimator.__name__} does not support hints .* for chunked views"):
            model.fit(chunked(views, 500), **hints)
        assert not hasattr(model, "labels_")
    if estimator in ESTIMATORS:
        assert estimator(4, kernel="linear", random_state=0).fit(views, some).hints_.samples.shape == (120,)
