"""New samples in chunks: labels and rows of the model, wherever it was fitted, and not before they are asked for."""

import dask.array as da
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from latefusion import distributed

MODELS = {
    "global": lambda: lf.GlobalAlignmentClustering(4, random_state=0),
    "local": lambda: lf.LocalAlignmentClustering(4, random_state=0),
    "linear": lambda: lf.GlobalAlignmentClustering(4, kernel="linear", random_state=0),
    "late fusion": lambda: lf.LateFusionClustering(4, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_fitted_in_memory_labels_chunks_as_it_labels_arrays(name, planted, chunked):
    views, _ = planted
    model = MODELS[name]().fit({key: view[:400] for key, view in views.items()})
    new = {key: view[400:] for key, view in views.items()}
    lazy = distributed.predict(model, chunked(new, [90, 300, 171]))
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), model.predict(new))
    rows = distributed.transform(model, list(chunked(new, 250).values()))
    np.testing.assert_allclose(rows.compute(), model.transform(new), atol=1e-12)
    assert model.consensus_.shape == (400, 4)  # the model itself has lost nothing


@pytest.mark.parametrize("missing", ["zero", "impute"])
@pytest.mark.parametrize("estimator", ["GlobalAlignmentClustering", "LocalAlignmentClustering", "LateFusionClustering"])
def test_new_samples_may_lack_views_in_chunks_as_in_memory(estimator, missing, planted, chunked):
    """By rows of NaN or a mask; also of a model that has only seen complete samples."""
    views, target = planted
    seen = np.random.default_rng(0).random((800, 3)) < 0.7
    seen[~seen.any(axis=1), 0] = True
    model = getattr(lf, estimator)(4, missing=missing, random_state=0).fit(
        {name: view[800:] for name, view in views.items()}
    )
    complete = {name: view[:800] for name, view in views.items()}
    holes = {
        name: np.where(own[:, None], view, np.nan) for (name, view), own in zip(complete.items(), seen.T, strict=True)
    }
    lazy = distributed.predict(model, chunked(holes, [90, 300, 171]))
    np.testing.assert_array_equal(lazy.compute(), model.predict(holes))
    masked = lf.Views(chunked(complete, 100), mask=seen)
    np.testing.assert_array_equal(distributed.predict(model, masked).compute(), model.predict(holes))
    if estimator != "LateFusionClustering":
        there = getattr(distributed, estimator)(4, missing=missing, random_state=0).fit(chunked(views))
        for labels in (there.predict(holes), there.predict(chunked(holes)).compute(), there.in_memory().predict(holes)):
            assert adjusted_rand_score(labels, target[:800]) > 0.9


@pytest.mark.parametrize("name", ["linear", "sampled"])
def test_the_size_of_a_model_without_training_samples_does_not_grow_with_their_number(name, planted):
    import pickle

    options = {"count_samples": 50} if name == "sampled" else {}
    estimator = lf.LocalAlignmentClustering if options else lf.GlobalAlignmentClustering
    views, _ = planted
    sizes = {}
    for n_samples in (1100, 1200):
        model = estimator(4, kernel="linear", random_state=0, **options)
        model.fit({key: view[:n_samples] for key, view in views.items()})
        sizes[n_samples] = [len(pickle.dumps(one)) for one in (model, distributed.prediction.without_samples(model))]
    (model, light), (larger, still) = sizes.values()
    assert larger > 1.05 * model
    assert abs(still - light) < 0.01 * light


def test_views_that_do_not_fit_are_refused_before_anything_is_computed(planted, chunked):
    views, _ = planted
    model = MODELS["linear"]().fit(views)
    cut = chunked(views)
    first, *_ = cut
    with pytest.raises(ValueError, match=rf"View '{first}' has 9 columns, but .* was fitted on 10"):
        distributed.predict(model, {**cut, first: cut[first][:, :9]})
    with pytest.raises(ValueError, match="was fitted on the views"):
        distributed.predict(model, {**cut, "other": cut[first]})


def test_a_value_that_is_not_finite_is_named_by_its_rows(planted, chunked):
    views, _ = planted
    model = MODELS["linear"]().fit(views)
    first = next(iter(views))
    bad = {name: view.copy() for name, view in views.items()}
    bad[first][777, 2] = np.inf
    with pytest.raises(ValueError, match=rf"Rows \d+ to \d+: View '{first}'.*infinite"):
        distributed.predict(model, chunked(bad)).compute()


def test_missing_values_are_filled_as_in_memory(planted, chunked):
    views, _ = planted
    model = MODELS["linear"]().fit(views)
    first = next(iter(views))
    holed = {name: view.copy() for name, view in views.items()}
    holed[first][5::50, 2] = np.nan
    np.testing.assert_array_equal(distributed.predict(model, chunked(holed)).compute(), model.predict(holed))


def test_models_of_chunked_views_refuse_missing_values(planted, chunked):
    views, _ = planted
    model = distributed.GlobalAlignmentClustering(3, random_state=0).fit(chunked(views))
    first = next(iter(views))
    holed = {name: view.copy() for name, view in views.items()}
    holed[first][7, 2] = np.nan
    with pytest.raises(ValueError, match=rf"View '{first}' contains 1 values that are NaN"):
        model.in_memory().predict(holed)


@pytest.mark.parametrize("estimator", ["GlobalAlignmentClustering", "LocalAlignmentClustering", "LateFusionClustering"])
def test_memberships_are_lazy_and_calibrated_by_samples_in_memory(estimator, planted, chunked, monkeypatch):
    monkeypatch.setattr("latefusion.estimators.memberships.N_DIVISIONS", 1)
    views, _ = planted
    model = getattr(distributed, estimator)(4, random_state=0).fit(chunked(views))
    with pytest.raises(ValueError, match=r"fitted on many samples, on chunked views.*calibrate_memberships\(X\)"):
        model.memberships_  # noqa: B018
    model.calibrate_memberships({name: view[::4] for name, view in views.items()})
    assert model.calibration_.n_samples == 300
    found = model.memberships_
    assert isinstance(found, da.Array)
    assert found.chunks[0] == model.labels_.chunks[0]
    np.testing.assert_array_equal(found.compute().argmax(axis=1), model.labels_.compute())
    lazy = model.predict_proba(chunked(views, [90, 300, 171]))
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), found.compute(), atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(views), found.compute(), atol=1e-6)
    np.testing.assert_allclose(model.in_memory().predict_proba(views), found.compute(), atol=1e-6)


def test_memberships_of_a_model_fitted_in_memory_are_those_of_chunks(planted, chunked, monkeypatch):
    monkeypatch.setattr("latefusion.estimators.memberships.N_DIVISIONS", 1)
    views, _ = planted
    part = {key: view[:200] for key, view in views.items()}
    model = distributed.GlobalAlignmentClustering(4, random_state=0).fit(part)
    np.testing.assert_allclose(distributed.predict_proba(model, chunked(part, 70)).compute(), model.memberships_)
    model.fit(chunked(views))
    with pytest.raises(ValueError, match="not calibrated"):
        model.predict_proba(views)


def test_lazy_memberships_of_samples_with_missing_views_are_less_certain(planted, chunked, monkeypatch):
    monkeypatch.setattr("latefusion.estimators.memberships.N_DIVISIONS", 1)
    views, _ = planted
    holes = dict(views)
    first = next(iter(views))
    holes[first] = views[first].copy()
    holes[first][::2] = np.nan
    model = distributed.GlobalAlignmentClustering(4, random_state=0).fit(chunked(holes))
    model.calibrate_memberships({name: view[:300] for name, view in holes.items()})
    found = model.memberships_.compute()
    np.testing.assert_allclose(found, model.predict_proba(holes), atol=1e-6)
    np.testing.assert_array_equal(found.argmax(axis=1), model.labels_.compute())
    assert found[::2].max(axis=1).mean() < found[1::2].max(axis=1).mean()
