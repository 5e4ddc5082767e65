"""The estimator that needs nothing but the views: same answer for the same data, whatever comes in."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import latefusion as lf
from tests.properties import checks_that_need_a_classifier

N, K = 120, 3
DATA = lf.datasets.make_views(N, K, n_views=3, n_features=[4, 6, 8], noise=1.2, random_state=0)
VIEWS = DATA.views.arrays
RNG = np.random.default_rng(0)


def fit(X, n_clusters=K, **parameters):
    return lf.LateFusionClustering(n_clusters, random_state=0, **parameters).fit(X)


def same_clustering(a, b):
    return adjusted_rand_score(a, b) == 1.0


@pytest.fixture(scope="module")
def model():
    return fit(DATA.views)


@parametrize_with_checks([lf.LateFusionClustering()], expected_failed_checks=checks_that_need_a_classifier)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_planted_clusters_are_found(model):
    assert lf.metrics.clustering_accuracy(DATA.target, model.labels_) > 0.95


def test_fitted_attributes(model):
    n_partitions = len(model.partitions_)
    np.testing.assert_allclose(model.consensus_.T @ model.consensus_, np.eye(K), atol=1e-8)
    assert model.rotations_.shape == (n_partitions, K, K)
    assert [one.shape for one in model.partitions_] == [(N, K)] * n_partitions
    assert len(model.partition_names_) == n_partitions
    assert {view for view, _ in model.partition_names_} <= {*model.view_names_, "all views"}
    assert np.linalg.norm(model.view_weights_) == pytest.approx(1)
    assert model.view_weights_.shape == model.agreement_.shape == (3,)
    assert np.all((model.agreement_ > 0) & (model.agreement_ <= 1))
    assert model.confidence_.shape == (N,)
    assert np.all((model.confidence_ >= 0) & (model.confidence_ <= 1))
    assert np.all(np.diff(model.objective_) >= -1e-12)
    assert (len(model.objective_), model.converged_, model.n_clusters_) == (model.n_iter_, True, K)
    assert model.view_kinds_ == dict.fromkeys(["view_0", "view_1", "view_2"], "coordinates")
    assert (model.n_views_, model.n_features_in_) == (3, 18)
    assert list(model.n_features_per_view_) == [4, 6, 8]


def test_what_views_hold_is_found_out():
    views = {
        "words": sp.csr_array(RNG.poisson(0.3, (N, 30)).astype(float)),
        "shares": RNG.dirichlet(np.ones(5), N),
        "lab": VIEWS[0] * [1, 10, 100, 1000],
        "embedding": VIEWS[1],
    }
    kinds = {"words": "counts", "shares": "distribution", "lab": "measurements", "embedding": "coordinates"}
    with pytest.warns(UserWarning, match="'(words|shares)' is statistically unrelated"):
        model = fit(views)
    assert model.view_kinds_ == kinds
    assert model.unrelated_views_ == ["words", "shares"]


# --- The same sample gets the same answer ---


@pytest.mark.parametrize(
    "similarity", ["auto", "graph", "kernel", lf.KernelSimilarity("linear"), lf.GraphSimilarity(7)]
)
@pytest.mark.parametrize("assign_labels", ["kmeans", "rotation"])
def test_training_samples_get_their_rows_and_labels_back(similarity, assign_labels):
    model = fit(VIEWS, similarity=similarity, assign_labels=assign_labels)
    np.testing.assert_allclose(model.transform(VIEWS), model.consensus_, atol=1e-8)
    np.testing.assert_array_equal(model.predict(VIEWS), model.labels_)
    assert lf.metrics.clustering_accuracy(DATA.target, model.labels_) > 0.9


def test_every_view_may_have_its_own_partition():
    kernel = lf.kernels.gaussian_kernel(VIEWS[2])
    X = [VIEWS[0], sp.csr_array(VIEWS[1]), kernel]
    for similarity in (["graph", "kernel", "precomputed"], [lf.GraphSimilarity(7), "auto", lf.PrecomputedSimilarity()]):
        model = fit(X, similarity=similarity)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert lf.metrics.clustering_accuracy(DATA.target, model.labels_) > 0.9


def test_an_object_gives_the_one_partition_of_its_view():
    model = fit(VIEWS, similarity=[lf.KernelSimilarity("linear"), "graph", "graph"])
    assert [name for view, name in model.partition_names_ if view == "view_0"] == ["given"]


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_views_give_the_answer_of_dense_ones(container):
    dense = [np.where(view > 0.5, view, 0.0) + 0.01 * VIEWS[0][:, :1] for view in VIEWS]
    sparse = [container(view) for view in dense]
    model, reference = fit(sparse), fit(dense)
    assert same_clustering(model.labels_, reference.labels_)
    np.testing.assert_allclose(model.view_weights_, reference.view_weights_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(sparse), model.labels_)
    np.testing.assert_allclose(model.transform(sparse), model.consensus_, atol=1e-8)


def test_precomputed_kernels():
    kernels = [lf.kernels.gaussian_kernel(VIEWS[0]), 5 * lf.kernels.gaussian_kernel(VIEWS[1]), VIEWS[2] @ VIEWS[2].T]
    model = fit(kernels, similarity="precomputed")
    assert set(model.view_kinds_.values()) == {"kernel"}
    assert lf.metrics.clustering_accuracy(DATA.target, model.labels_) > 0.95
    diagonals = [None, None, np.diagonal(kernels[2])]
    np.testing.assert_array_equal(model.predict(kernels, diagonals=diagonals), model.labels_)
    np.testing.assert_allclose(model.transform(kernels, diagonals=diagonals), model.consensus_, atol=1e-7)
    with pytest.raises(
        ValueError, match=r"diagonal of the training kernel of view 'view_2' is not constant.*diagonals="
    ):
        model.predict(kernels)


def test_single_precision_stays():
    single = [view.astype(np.float32) for view in VIEWS]
    model = fit(single)
    rows = model.transform(single)
    assert model.consensus_.dtype == rows.dtype == np.float32
    np.testing.assert_allclose(rows, model.consensus_, atol=5e-3)
    np.testing.assert_array_equal(model.predict(single), model.labels_)
    assert adjusted_rand_score(model.labels_, fit(VIEWS).labels_) > 0.95


def test_held_out_samples_are_labeled_like_their_clusters():
    train, rest = DATA.views[np.arange(0, N, 2)], DATA.views[np.arange(1, N, 2)]
    predicted = fit(train).predict(rest)
    assert lf.metrics.clustering_accuracy(DATA.target[1::2], predicted) > 0.9


def test_the_same_seed_gives_the_same_model(model):
    again = fit(DATA.views, n_jobs=2)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.consensus_, model.consensus_)
    assert again.selection_.rows == model.selection_.rows


def test_inputs_are_left_alone():
    copies = [view.copy() for view in VIEWS]
    fit(copies).predict(copies)
    assert all(np.array_equal(one, view) for one, view in zip(copies, VIEWS, strict=True))


# --- Nothing depends on arbitrary choices ---


@pytest.mark.parametrize("similarity", ["auto", "graph", "kernel"])
def test_order_of_views_and_samples_does_not_matter(similarity, seed):
    rng = np.random.default_rng(seed)
    order, rows = rng.permutation(3), rng.permutation(N)
    reference = fit(VIEWS, similarity=similarity, regularization=1.0)
    views_moved = fit([VIEWS[position] for position in order], similarity=similarity, regularization=1.0)
    np.testing.assert_allclose(views_moved.view_weights_, reference.view_weights_[order], atol=1e-6)
    assert same_clustering(views_moved.labels_, reference.labels_)
    rows_moved = fit([view[rows] for view in VIEWS], similarity=similarity, regularization=1.0)
    assert adjusted_rand_score(rows_moved.labels_, reference.labels_[rows]) > 0.95


def test_the_unit_of_a_view_does_not_matter(model):
    scaled = fit([VIEWS[0] * 1e-100, VIEWS[1] * 1e100, VIEWS[2]])
    np.testing.assert_allclose(scaled.view_weights_, model.view_weights_, atol=1e-6)
    assert same_clustering(scaled.labels_, model.labels_)


@pytest.mark.parametrize("twin", [0, 2])
def test_a_view_given_twice_shares_its_weight(model, twin):
    doubled = fit([*VIEWS, VIEWS[twin]])
    assert adjusted_rand_score(doubled.labels_, model.labels_) >= 0.99
    assert doubled.view_weights_[twin] == pytest.approx(doubled.view_weights_[3], abs=1e-6)
    others = [view for view in range(3) if view != twin]
    assert doubled.view_weights_[3] < doubled.view_weights_[others].min()


def test_a_noise_view_has_no_weight_and_changes_nothing(model):
    with pytest.warns(UserWarning, match="'view_3' is statistically unrelated"):
        noisy = fit([*VIEWS, RNG.standard_normal((N, 8))])
    assert noisy.view_weights_[3] < 1e-12
    assert noisy.agreement_[3] < noisy.agreement_[:3].min()
    np.testing.assert_array_equal(noisy.labels_, model.labels_)


# --- Bad input: a sensible answer or an error that says what is wrong ---


def check_sensible(model, X, n_clusters=K):
    assert np.isfinite(model.consensus_).all()
    assert np.isfinite(model.view_weights_).all()
    assert np.isfinite(model.confidence_).all()
    assert set(model.labels_) <= set(range(n_clusters))
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_view_of_one_value_is_refused_by_name(value, container):
    with pytest.raises(ValueError, match=r"'dull' is constant.*Remove it"):
        fit({"good": VIEWS[0], "dull": container(np.full((N, 3), value))})


def test_a_million_columns():
    rows = np.arange(0, N, 8)
    sparse = sp.random_array((len(rows), 10**6), density=1e-4, rng=RNG, format="csr")
    dense = RNG.standard_normal((len(rows), 10**6))
    for wide in (sparse, dense):
        X = [VIEWS[0][rows], wide]
        check_sensible(fit(X, regularization=1.0), X)


def outlying(change):
    view = VIEWS[0].copy()
    change(view)
    return view


@pytest.mark.parametrize(
    "view",
    [
        outlying(lambda view: view.__setitem__((3, 2), 1e12)),
        outlying(lambda view: view.__setitem__(3, 1e12)),
        outlying(lambda view: view.__setitem__((slice(None, None, 40), 1), [1e12, -1e12, 1e12])),
        np.abs(outlying(lambda view: view.__setitem__((3, 2), 1e12))),
    ],
)
def test_outliers(view, model):
    X = [view, *VIEWS[1:]]
    outlier = fit(X)
    check_sensible(outlier, X)
    np.testing.assert_array_equal(outlier.predict(X), outlier.labels_)
    assert adjusted_rand_score(outlier.labels_, model.labels_) > 0.85
    check_sensible(fit([view]), [view])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("is_binary", [False, True])
def test_a_view_that_is_nearly_empty(model, container, is_binary):
    generator = np.random.default_rng(3)
    values = np.ones((N, 300)) if is_binary else generator.random((N, 300))
    empty = container((generator.random((N, 300)) < 0.01) * values)
    X = [*VIEWS, empty]
    with pytest.warns(UserWarning, match="'view_3' is statistically unrelated"):
        sparse = fit(X)
    check_sensible(sparse, X)
    assert sparse.view_weights_[3] < 1e-12
    np.testing.assert_array_equal(sparse.labels_, model.labels_)


def test_two_identical_views():
    X = [VIEWS[0], VIEWS[0]]
    model = fit(X)
    np.testing.assert_allclose(model.view_weights_, np.sqrt([0.5, 0.5]), atol=1e-8)
    assert adjusted_rand_score(model.labels_, fit(VIEWS[:1]).labels_) > 0.9


@pytest.mark.parametrize("n_clusters", [3, 4])
def test_a_view_of_two_values_among_others(n_clusters):
    X = [*VIEWS, (VIEWS[0][:, :1] > 0) * 1.0]
    model = fit(X, n_clusters=n_clusters)
    check_sensible(model, X, n_clusters)
    assert len(set(model.labels_)) == n_clusters


@pytest.mark.parametrize("n_samples", [2, 3, 5, 10])
def test_as_many_clusters_as_samples(n_samples):
    X = [view[:n_samples] for view in VIEWS]
    model = fit(X, n_clusters=n_samples)
    assert sorted(model.labels_) == list(range(n_samples))
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 9])
def test_ten_samples(n_clusters):
    X = [view[:10] for view in VIEWS]
    model = fit(X, n_clusters=n_clusters)
    check_sensible(model, X, n_clusters)
    assert len(set(model.labels_)) == n_clusters
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_one_cluster():
    model = fit(VIEWS, n_clusters=1)
    check_sensible(model, VIEWS, 1)
    assert not model.labels_.any()
    np.testing.assert_array_equal(model.confidence_, np.ones(N))


def test_more_clusters_than_samples_are_refused():
    with pytest.raises(ValueError, match=r"n_samples=5 .*n_clusters=6"):
        fit([view[:5] for view in VIEWS], n_clusters=6)


def test_values_whose_squares_overflow_are_refused_by_name():
    with pytest.raises(ValueError, match=r"'view_1' has values of magnitude"):
        fit([VIEWS[0], VIEWS[1] * 1e155])


def test_levels_are_not_scaled_away():
    temperatures = 290 + 10 * (DATA.target[:, None] + 0.3 * RNG.standard_normal((N, 3)))
    assert adjusted_rand_score(DATA.target, fit([temperatures]).labels_) > 0.9


def test_missing_rows_are_filled_in_and_more_of_them_are_worse():
    complete = lf.datasets.make_views(120, 3, n_uninformative=1, random_state=0)
    found = {}
    for share in (0.1, 0.6):
        views = lf.datasets.make_views(120, 3, n_uninformative=1, missing=share, random_state=0).views
        with warnings.catch_warnings():  # at 60 % missing, too few samples have two views to say so
            warnings.filterwarnings("ignore", "View 'noise_0' is statistically unrelated")
            model = fit(views)
        found[share] = adjusted_rand_score(complete.target, model.labels_)
        for similarity in model.partitions_:
            assert np.linalg.norm(similarity, axis=1).min() > 0
    assert found[0.1] > 0.8
    assert found[0.6] <= found[0.1]


def test_unknown_words_are_refused():
    with pytest.raises(ValueError, match=r"'tree'.*similarity|similarity.*'tree'"):
        fit(VIEWS, similarity=["graph", "kernel", "tree"])
    with pytest.raises(ValueError, match="regularization"):
        fit(VIEWS, regularization=-1.0)


def test_one_warning_without_convergence():
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        fit(VIEWS, max_iter=1)
    assert len(caught) == 1


# --- scikit-learn's own tools ---


def test_clone_and_pickle(model):
    copy = clone(lf.LateFusionClustering(4, regularization=2.0, similarity=[lf.GraphSimilarity(3), "auto"]))
    assert (copy.n_clusters, copy.regularization, copy.similarity[0].n_neighbors) == (4, 2.0, 3)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(DATA.views), model.labels_)
    np.testing.assert_array_equal(clone(model).fit(DATA.views).labels_, model.labels_)


def test_set_output_names_the_columns(model):
    pytest.importorskip("pandas")
    frame = clone(model).set_output(transform="pandas").fit_transform(DATA.views)
    assert list(frame.columns) == [f"latefusionclustering{column}" for column in range(K)]
    np.testing.assert_allclose(frame.to_numpy(), model.consensus_)


def test_grid_search_splits_samples():
    search = GridSearchCV(
        lf.LateFusionClustering(3, random_state=0, regularization=1.0),
        {"n_clusters": [2, 3]},
        scoring=lambda model, X, y: adjusted_rand_score(y, model.predict(X)),
        cv=KFold(2, shuffle=True, random_state=0),
    ).fit(DATA.views, DATA.target)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_score_ > 0.8


def test_pipeline_over_one_table(model):
    slices = {"a": slice(0, 4), "b": slice(4, 10), "c": slice(10, 18)}
    pipeline = make_pipeline(StandardScaler(), lf.LateFusionClustering(3, views=slices, random_state=0))
    labels = pipeline.fit_predict(np.hstack(VIEWS))
    assert adjusted_rand_score(labels, model.labels_) > 0.9


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_a_view_may_be_labels_of_more_clusters_than_asked_for(n_clusters):
    """Finer labels than the consensus has clusters help, and their number does not decide how many there are."""
    data = lf.datasets.make_views(n_samples=150, n_clusters=3, n_views=1, noise=1.5, random_state=0)
    fine = data.target * 5 + np.random.default_rng(0).integers(5, size=150)
    views = {"x": data.views.arrays[0], "fine": [f"c{label}" for label in fine]}
    model = lf.LateFusionClustering(n_clusters, random_state=0).fit(views)
    assert model.view_kinds_["fine"] == "labels"
    assert model.n_clusters_ == 3
    assert lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_another_fit_replaces_the_alternatives(conflict):
    model = fit(conflict[0])
    assert len(model.alternatives_) == 1
    assert pickle.loads(pickle.dumps(model)).alternatives_[0].view == model.alternatives_[0].view
    assert model.fit(VIEWS).alternatives_ == ()


def test_the_order_of_the_views_does_not_change_the_clusterings_of_a_tie(conflict):
    """Which view is followed may be chance; the other one is the alternative."""
    views, *_ = conflict
    found = []
    for names in (["left", "right"], ["right", "left"]):
        model = fit({name: views[name] for name in names})
        (one,) = model.alternatives_
        found.append({tuple(lf.metrics.match_labels(conflict[1], labels)) for labels in (model.labels_, one.labels)})
    assert found[0] == found[1]
