"""Estimators with hints: right hints help, wrong ones do not hurt, and everything else holds as without hints."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import latefusion as lf
from tests.hinted import two_clusterings

DATA = two_clusterings()
HINTS = DATA.hints(30)
OTHERS = HINTS < 0
ESTIMATORS = [lf.LateFusionClustering, lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)


def fit(estimator, X=DATA.views, *arguments, n_clusters=3, parameters=(), **hints):
    return estimator(n_clusters, random_state=0, **dict(parameters)).fit(X, *arguments, **hints)


def equal(one, other):
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.consensus_, other.consensus_)
    np.testing.assert_array_equal(one.confidence_, other.confidence_)


@every
def test_right_hints_give_the_clusters_that_they_are_about(estimator):
    without, model = fit(estimator), fit(estimator, DATA.views, HINTS)
    assert adjusted_rand_score(DATA.hidden[OTHERS], without.labels_[OTHERS]) < 0.1
    assert adjusted_rand_score(DATA.hidden[OTHERS], model.labels_[OTHERS]) > 0.9
    assert model.hints_.followed
    assert not hasattr(without, "hints_")
    np.testing.assert_array_equal(model.hints_.samples, np.flatnonzero(~OTHERS))
    np.testing.assert_array_equal(model.hints_.kept, model.labels_[~OTHERS] == model.hints_.clusters)
    np.testing.assert_array_equal(model.hints_.classes, [0, 1, 2])
    assert len(set(model.labels_.tolist())) == 3
    assert f"Hints: 30 samples, {model.hints_.kept.sum()} kept" in repr(model.summary())


@every
def test_the_model_is_a_function_of_the_views(estimator):
    """New samples get labels from their views; training samples get their own back."""
    model = fit(estimator, DATA.views, HINTS)
    np.testing.assert_array_equal(model.predict(DATA.views), model.labels_)
    np.testing.assert_allclose(model.transform(DATA.views), model.consensus_, atol=1e-8)
    np.testing.assert_allclose(model.consensus_.T @ model.consensus_, np.eye(3), atol=1e-6)
    new = two_clusterings(seed=1)
    assert adjusted_rand_score(new.hidden, model.predict(new.views)) > 0.9


@every
@pytest.mark.parametrize(
    "hints",
    [
        {},
        {"y": DATA.hidden},
        {"y": DATA.hidden.astype(str)},
        {"y": np.full(150, -1)},
        {"y": ["-1"] * 150},
        {"y": {}},
        {"must_link": [], "cannot_link": []},
        {"must_link": [(3, 3)]},
    ],
)
def test_without_hints_nothing_changes(estimator, hints):
    """Neither the clusters nor what the model says about hints, which is nothing, as `oob_score_` of scikit-learn."""
    model = fit(estimator, DATA.views, HINTS)
    equal(model.fit(DATA.views, **hints), fit(estimator))
    assert "hints_" not in vars(model)
    assert model.summary().hints is None


@every
def test_unknown_classes_in_words(estimator):
    words = np.where(OTHERS, "-1", np.array(["c", "a", "b"])[np.maximum(HINTS, 0)])
    equal(fit(estimator, DATA.views, words), fit(estimator, DATA.views, HINTS))


@every
@pytest.mark.parametrize("y", [DATA.hidden[:3], DATA.hidden[:149], HINTS[:149]], ids=["three", "known", "unknown"])
def test_classes_of_another_number_of_samples_are_refused(estimator, y):
    with pytest.raises(ValueError, match=rf"y has shape \({len(y)},\), but there are 150 samples"):
        fit(estimator, DATA.views, y)


@every
@pytest.mark.parametrize("seed", range(3))
def test_random_hints_change_nothing(estimator, seed):
    rng = np.random.default_rng(seed)
    model = fit(estimator, DATA.views, np.where(OTHERS, -1, rng.integers(0, 3, 150)))
    equal(model, fit(estimator))
    assert not model.hints_.followed
    n_equal = model.hints_.kept.sum()
    line = f"Hints: 30 samples, not used; {n_equal} agree with the clusters, {30 - n_equal} do not (row "
    assert model.summary().hints.startswith(line)
    assert "The clusters are those without hints" in repr(model.summary())


@every
def test_names_of_classes_do_not_matter(estimator):
    names = np.array(["c", "a", "b"], dtype=object)
    words = np.where(OTHERS, None, names[np.maximum(HINTS, 0)])
    one, other = fit(estimator, DATA.views, HINTS), fit(estimator, DATA.views, words)
    equal(one, other)
    np.testing.assert_array_equal(other.hints_.class_clusters[[2, 0, 1]], one.hints_.class_clusters)


@every
def test_the_order_of_samples_does_not_matter(estimator):
    order = np.random.default_rng(0).permutation(150)
    one, other = fit(estimator, DATA.views, HINTS), fit(estimator, DATA.views[order], HINTS[order])
    assert adjusted_rand_score(one.labels_[order], other.labels_) == 1
    assert set(order[other.hints_.overruled]) == set(one.hints_.overruled)


@every
def test_two_fits_are_equal(estimator):
    equal(fit(estimator, DATA.views, HINTS), fit(estimator, DATA.views, HINTS))


@every
def test_hints_by_sample_id(estimator):
    ids = [f"p{row:03d}" for row in range(150)]
    frames = {name: pd.DataFrame(array, index=ids) for name, array in DATA.views.items()}
    known = pd.Series(HINTS, index=ids)[~OTHERS].sample(frac=1, random_state=0)
    reference = fit(estimator, frames, HINTS)
    equal(fit(estimator, frames, known), reference)
    equal(fit(estimator, frames, known.to_dict()), reference)
    with pytest.raises(ValueError, match="y names 1 sample that does not exist: 'zoe'"):
        fit(estimator, frames, {"zoe": 0, "p000": 1})
    twice = pd.concat([known, pd.Series(2, index=known.index[:1])])
    for one in (twice, twice[::-1]):
        with pytest.raises(ValueError, match=f"y names sample {known.index[0]!r} 2 times"):
            fit(estimator, frames, one)
    overruled = [ids[row] for row in reference.hints_.overruled]
    assert all(repr(one) in repr(reference.summary()) for one in overruled[:3])


@every
def test_pairs_in_chains_are_followed(estimator):
    chains = [np.flatnonzero(one == HINTS) for one in range(3)]
    must = [(ids[0], one) for ids in chains for one in ids[1:]]
    cannot = [(chains[one][0], chains[other][0]) for one, other in ((0, 1), (0, 2), (1, 2))]
    model = fit(estimator, DATA.views, must_link=must, cannot_link=cannot)
    assert adjusted_rand_score(DATA.hidden, model.labels_) > 0.9
    assert model.hints_.n_pairs == len(must) + 3
    assert "pairs satisfied" in repr(model.summary())
    with pytest.raises(ValueError, match="cannot_link contradicts the other hints"):
        fit(estimator, DATA.views, must_link=must, cannot_link=[(chains[0][1], chains[0][2])])


@every
def test_every_class_needs_a_cluster(estimator):
    with pytest.raises(ValueError, match=r"y contains 3 classes \(0, 1, 2\), but there are at most 2 clusters"):
        fit(estimator, DATA.views, HINTS, n_clusters=2)


def test_numbers_below_that_of_the_classes_are_not_tried():
    y = np.where(np.arange(150) < 15, np.arange(150) % 5, -1)
    model = fit(lf.LateFusionClustering, DATA.views, y, n_clusters=[2, 3, 5, 6])
    assert model.n_clusters_ >= 5
    assert [one.n_clusters for one in model.number_selection_.evidence] == [5, 6]
    with pytest.raises(ValueError, match="5 classes"):
        fit(lf.LateFusionClustering, DATA.views, y, n_clusters=[2, 3, 4])


@every
def test_classes_of_all_samples_are_ignored_in_cross_validation(estimator):
    """The classes that scikit-learn passes for scores do not take part in the fit."""
    search = GridSearchCV(estimator(random_state=0), {"n_clusters": [3]}, cv=KFold(2), scoring="adjusted_rand_score")
    search.fit(DATA.views, DATA.hidden)
    equal(search.best_estimator_, fit(estimator))
    assert search.best_score_ < 0.2


@every
def test_hints_reach_the_estimator_by_all_ways(estimator):
    reference = fit(estimator, DATA.views, HINTS)
    np.testing.assert_array_equal(estimator(3, random_state=0).fit_predict(DATA.views, HINTS), reference.labels_)
    rows = estimator(3, random_state=0).fit_transform(DATA.views, HINTS)
    np.testing.assert_array_equal(rows, reference.consensus_)
    pipeline = make_pipeline(FunctionTransformer(), estimator(3, random_state=0)).fit(DATA.views, HINTS)
    equal(pipeline[-1], reference)


@every
@pytest.mark.parametrize("missing", ["zero", "impute"])
def test_hints_with_missing_views(estimator, missing):
    mask = np.random.default_rng(0).random((150, 5)) > 0.1
    views = lf.Views(DATA.views.arrays, mask=mask)
    model = fit(estimator, views, DATA.hints(40), parameters={"missing": missing})
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    assert model.hints_.followed
    seen = mask[:, 3:].all(axis=1)
    assert adjusted_rand_score(DATA.hidden[seen], model.labels_[seen]) > 0.8


@every
def test_a_model_file_contains_the_hints(estimator, tmp_path):
    model = fit(estimator, DATA.views, HINTS)
    lf.save(model, tmp_path / "hinted.model")
    loaded = lf.load(tmp_path / "hinted.model")
    np.testing.assert_array_equal(loaded.predict(DATA.views), model.labels_)
    np.testing.assert_array_equal(loaded.hints_.kept, model.hints_.kept)
    assert loaded.hints_.reason == model.hints_.reason
    assert repr(loaded.summary()).splitlines()[-2:] == repr(model.summary()).splitlines()[-2:]


def test_memberships_repeat_the_clustering_with_the_hints():
    """Without hints, the clusters of halves would be others, and samples would rarely keep theirs."""
    model = fit(lf.GlobalAlignmentClustering, DATA.views, DATA.hints(60))
    assert model.calibration_.kept > 0.9
    np.testing.assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)


def test_diagnostics_of_a_model_with_hints():
    model = fit(lf.LateFusionClustering, DATA.views, HINTS)
    assert model.alternatives_ == ()
    without = fit(lf.LateFusionClustering)
    assert [str(one) for one in model.leave_one_view_out()] == [str(one) for one in without.leave_one_view_out()]
    np.testing.assert_array_equal(model.weight_intervals(20).lower, without.weight_intervals(20).lower)
    np.testing.assert_array_equal(model.n_clusters_path([2]).labels_for(3), model.labels_)
    weights = model.sample_view_weights()
    np.testing.assert_allclose(weights.sum(axis=1)[weights.any(axis=1)], 1)


def test_hints_need_views_in_the_memory_of_numpy():
    torch = pytest.importorskip("torch")
    arrays = [torch.asarray(array) for array in DATA.views.arrays]
    with pytest.raises(ValueError, match="Hints require NumPy arrays"):
        fit(lf.GlobalAlignmentClustering, arrays, HINTS)
