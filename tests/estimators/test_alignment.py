"""What both alignments promise: no dependence on arbitrary choices, and the same answer for the same sample."""

import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import latefusion as lf
from latefusion.metrics import generalization_bound
from tests.properties import checks_that_need_a_classifier

ESTIMATORS = [lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering]


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(150, 3, n_views=3, n_features=[4, 6, 8], noise=1.2, random_state=0)


@pytest.fixture(scope="module")
def kernels(data):
    return [lf.kernels.gaussian_kernel(view) for view in data.views.arrays]


def same_clustering(a, b):
    return adjusted_rand_score(a, b) == 1.0


@parametrize_with_checks(
    [estimator() for estimator in ESTIMATORS], expected_failed_checks=checks_that_need_a_classifier
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [estimator(similarity="graph") for estimator in ESTIMATORS], expected_failed_checks=checks_that_need_a_classifier
)
def test_scikit_learn_checks_on_graphs(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("assign_labels", "similarity"),
    # Pivoted QR wants one direction per cluster, which graphs give; k centered clusters span k - 1 directions only.
    [("kmeans", "kernel"), ("kmeans", "graph"), ("rotation", "kernel"), ("rotation", "graph"), ("cluster_qr", "graph")],
)
def test_planted_clusters_are_found(data, estimator, assign_labels, similarity):
    model = estimator(3, similarity=similarity, assign_labels=assign_labels, random_state=0).fit(data.views)
    assert lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fitted_attributes(data, estimator):
    model = estimator(3, random_state=0).fit(data.views)
    n, k, m = 150, 3, 3
    np.testing.assert_allclose(model.consensus_.T @ model.consensus_, np.eye(k), atol=1e-10)
    assert model.rotations_.shape == (m, k, k)
    assert np.linalg.norm(model.view_weights_) == pytest.approx(1)
    assert len(model.objective_) == model.n_iter_
    assert np.all(np.diff(model.objective_) >= -1e-12)
    assert model.converged_
    assert [similarity.shape for similarity in model.partitions_] == [(n, k)] * m
    assert model.confidence_.shape == (n,)
    assert np.all((model.confidence_ >= 0) & (model.confidence_ <= 1))
    assert np.all((model.agreement_ > 0) & (model.agreement_ <= 1))
    assert list(model.view_names_) == ["view_0", "view_1", "view_2"]
    assert (model.n_views_, model.n_features_in_) == (3, 18)
    assert list(model.n_features_per_view_) == [4, 6, 8]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "gaussian", "laplace", "sigmoid"])
def test_training_samples_get_their_labels_back_from_kernels(data, estimator, kernel):
    model = estimator(3, kernel=kernel, random_state=0).fit(data.views)
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)
    np.testing.assert_allclose(model.transform(data.views), model.consensus_, atol=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_training_samples_get_their_labels_back_from_graphs(data, estimator):
    model = estimator(3, similarity="graph", random_state=0).fit(data.views)
    assert np.mean(model.predict(data.views) == model.labels_) >= 0.98
    np.testing.assert_allclose(model.transform(data.views), model.consensus_, atol=1e-6)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_training_samples_get_their_labels_back_from_precomputed_kernels(data, kernels, estimator):
    scaled = [kernels[0], 5.0 * kernels[1], kernels[2] * np.outer(*[np.linspace(1, 2, 150)] * 2)]
    model = estimator(3, similarity="precomputed", random_state=0).fit(scaled)
    diagonals = [None, None, np.diagonal(scaled[2])]
    np.testing.assert_array_equal(model.predict(scaled, diagonals=diagonals), model.labels_)
    np.testing.assert_allclose(model.transform(scaled, diagonals=diagonals), model.consensus_, atol=1e-8)
    with pytest.raises(
        ValueError, match=r"diagonal of the training kernel of view 'view_2' is not constant.*diagonals="
    ):
        model.predict(scaled)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("first", [0, 1])
def test_held_out_half_agrees_with_clustering_everything(estimator, first):
    views, _ = lf.datasets.load_digits_views(return_X_y=True)
    whole = estimator(10, random_state=0).fit(views)
    train, rest = np.arange(first, len(views), 2), np.arange(1 - first, len(views), 2)
    half = estimator(10, random_state=0).fit(views[train])
    predicted = lf.metrics.match_labels(whole.labels_[rest], half.predict(views[rest]))
    assert np.mean(predicted == whole.labels_[rest]) >= 0.95


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_precomputed_kernels_equal_kernels_of_features(data, kernels, estimator):
    from_features = estimator(3, random_state=0).fit(data.views)
    stacked = np.stack(kernels, axis=-1)
    for X in (kernels, stacked, {f"view_{p}": kernel for p, kernel in enumerate(kernels)}):
        given = estimator(3, similarity="precomputed", random_state=0).fit(X)
        np.testing.assert_allclose(given.view_weights_, from_features.view_weights_, atol=1e-10)
        np.testing.assert_array_equal(given.labels_, from_features.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_way_to_give_the_views_gives_the_same_answer(data, estimator):
    arrays, names = data.views.arrays, ["a", "b", "c"]
    table = np.hstack(arrays)
    columns = [f"x{column}" for column in range(18)]
    frame = pd.DataFrame(table, columns=columns)
    slices = {"a": slice(0, 4), "b": slice(4, 10), "c": slice(10, 18)}
    by_name = {"a": columns[:4], "b": columns[4:10], "c": columns[10:]}
    ids = [f"s{row}" for row in range(150)]
    indexed = {name: pd.DataFrame(array, index=ids) for name, array in zip(names, arrays, strict=True)}
    shuffled = indexed | {"b": indexed["b"].sample(frac=1, random_state=0)}
    variants = [
        (list(arrays), None),
        (dict(zip(names, arrays, strict=True)), None),
        (lf.Views(arrays, names), None),
        ([scipy.sparse.csr_array(array) for array in arrays], None),
        (shuffled, None),
        ({name: pl.DataFrame(array) for name, array in zip(names, arrays, strict=True)}, None),
        ([array.tolist() for array in arrays], None),
        (table, list(slices.values())),
        (table, {"a": range(4), "b": range(4, 10), "c": range(10, 18)}),
        (frame, slices),
        (frame, by_name),
        (pl.DataFrame(table, schema=columns), by_name),
        (scipy.sparse.csr_matrix(table), slices),
    ]
    reference = estimator(3, random_state=0).fit(arrays)
    for X, views in variants:
        model = estimator(3, views=views, random_state=0).fit(X)
        np.testing.assert_allclose(model.view_weights_, reference.view_weights_, atol=1e-8)
        assert same_clustering(model.labels_, reference.labels_)
        assert same_clustering(model.predict(X), reference.labels_)
    assert list(estimator(3, views=by_name).fit(frame).feature_names_in_) == columns


def test_ids_and_names_are_kept(data):
    ids = np.array([f"patient {row}" for row in range(150)])
    named = dict(zip(["rna", "protein", "image"], data.views.arrays, strict=True))
    frames = {name: pd.DataFrame(array, index=ids) for name, array in named.items()}
    model = lf.GlobalAlignmentClustering(3).fit(frames)
    assert list(model.view_names_) == ["rna", "protein", "image"]
    np.testing.assert_array_equal(model.sample_ids_, ids)
    reordered = {name: frames[name] for name in ("image", "rna", "protein")}
    np.testing.assert_array_equal(model.predict(reordered), model.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("similarity", ["kernel", "graph"])
def test_order_of_views_and_samples_does_not_matter(data, estimator, similarity, seed):
    rng = np.random.default_rng(seed)
    order, rows = rng.permutation(3), rng.permutation(150)
    reference = estimator(3, similarity=similarity, random_state=0).fit(data.views)
    shuffled = [data.views.arrays[position][rows] for position in order]
    model = estimator(3, similarity=similarity, random_state=0).fit(shuffled)
    np.testing.assert_allclose(model.view_weights_, reference.view_weights_[order], atol=1e-8)
    assert same_clustering(model.labels_, reference.labels_[rows])


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_view_given_twice_weighs_as_much_as_its_twin(data, estimator):
    model = estimator(3, random_state=0).fit([*data.views.arrays, data.views.arrays[0]])
    assert model.view_weights_[0] == pytest.approx(model.view_weights_[3], abs=1e-10)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_noise_view_weighs_less(data, estimator):
    noise = np.random.default_rng(0).standard_normal((150, 5))
    model = estimator(3, random_state=0).fit([*data.views.arrays, noise])
    assert model.view_weights_[3] < model.view_weights_[:3].min()
    assert model.agreement_[3] < model.agreement_[:3].min()


def test_one_view_is_kernel_kmeans(data):
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views.arrays[0])
    similarity = model.partitions_[0]
    np.testing.assert_allclose(model.consensus_ @ model.consensus_.T, similarity @ similarity.T, atol=1e-10)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_single_precision_is_kept_and_agrees(data, estimator):
    single = [array.astype(np.float32) for array in data.views.arrays]
    model = estimator(3, random_state=0).fit(single)
    assert model.consensus_.dtype == np.float32
    assert model.transform(single).dtype == np.float32
    assert np.mean(model.predict(single) == model.labels_) >= 0.995
    assert same_clustering(model.labels_, estimator(3, random_state=0).fit(data.views).labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n_clusters", [1, 150])
def test_one_cluster_and_one_per_sample(data, estimator, n_clusters):
    model = estimator(n_clusters, random_state=0, n_init=1).fit(data.views)
    assert len(np.unique(model.labels_)) == n_clusters
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)


def test_a_view_of_low_rank_adds_no_arbitrary_direction(data):
    # A linear kernel of one column has rank one: its similarity spans one direction, whatever n_clusters is.
    model = lf.GlobalAlignmentClustering(3, kernel="linear", random_state=0).fit(
        [data.views.arrays[0], data.views.arrays[1][:, :1]]
    )
    assert np.linalg.matrix_rank(model.partitions_[1]) == 1
    again = model.transform([data.views.arrays[0], data.views.arrays[1][:, :1]])
    np.testing.assert_allclose(again, model.consensus_, atol=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_partition_per_view(data, kernels, estimator):
    mixed = {"features": data.views.arrays[0], "graph": data.views.arrays[1], "kernel": kernels[2]}
    similarity = {
        "features": lf.KernelSimilarity("laplace"),
        "graph": lf.GraphSimilarity(n_neighbors=5),
        "kernel": "precomputed",
    }
    model = estimator(3, similarity=similarity, random_state=0).fit(mixed)
    assert lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.95
    assert np.mean(model.predict(mixed) == model.labels_) >= 0.98
    with pytest.raises(ValueError, match=r"unknown views: \['other'\]"):
        estimator(3, similarity={"features": "kernel", "other": "graph"}).fit(mixed)


def test_regularization_path_equals_single_fits(data):
    values = [0.0, 0.25, 4.0]
    for estimator in ESTIMATORS:
        path = estimator(3, random_state=0).regularization_path(data.views, values)
        assert len(path) == 3
        assert path.weights.shape == (3, 3)
        assert path.labels.shape == (3, 150)
        for point, value in zip(path, values, strict=True):
            single = estimator(3, regularization=value, random_state=0).fit(data.views)
            np.testing.assert_allclose(point.objective, single.objective_, rtol=1e-10)
            np.testing.assert_allclose(point.consensus, single.consensus_, atol=1e-10)
            np.testing.assert_array_equal(point.labels, single.labels_)
        assert [point.regularization for point in path[1:]] == values[1:]
        assert "3 points" in repr(path)
    with pytest.raises(ValueError, match="numbers >= 0"):
        lf.GlobalAlignmentClustering(3).regularization_path(data.views, [-1.0])


def test_path_leaves_the_estimator_unfitted(data):
    model = lf.GlobalAlignmentClustering(3)
    model.regularization_path(data.views, [1.0])
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "view_names_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_theory_of_a_fitted_model(data, estimator):
    model = estimator(3, random_state=0).fit(data.views)
    gap = model.objective_gap()
    assert 0 <= gap.residual <= gap.surrogate <= gap.bound
    n_views = 3
    assert 1 - 4 * n_views <= model.empirical_error() <= 1
    assert model.empirical_error(data.views) == pytest.approx(model.empirical_error(), abs=1e-6)
    assert model.generalization_bound(0.1) == generalization_bound(150, 3, 3, delta=0.1)


def test_empirical_error_falls_as_the_clusters_separate():
    errors = []
    for noise in (0.3, 3.0):
        data = lf.datasets.make_views(150, 3, noise=noise, random_state=0)
        errors.append(lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views).empirical_error())
    assert errors[0] < errors[1]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_pickle_and_repeat(data, estimator):
    model = estimator(3, random_state=0).fit(data.views)
    again = clone(model).fit(data.views)
    np.testing.assert_array_equal(again.consensus_, model.consensus_)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(data.views), model.labels_)
    parallel = clone(model).set_params(n_jobs=2).fit(data.views)
    np.testing.assert_array_equal(parallel.consensus_, model.consensus_)


def test_inputs_are_left_alone(data, kernels):
    views = [array.copy() for array in data.views.arrays]
    given = [kernel.copy() for kernel in kernels]
    for array in [*views, *given]:
        array.flags.writeable = False
    lf.GlobalAlignmentClustering(3).fit(views).predict(views)
    lf.LocalAlignmentClustering(3, similarity="precomputed").fit(given).predict(given)
    for before, after in zip([*data.views.arrays, *kernels], [*views, *given], strict=True):
        np.testing.assert_array_equal(before, after)


def stability(estimator, X, y=None):
    """An unsupervised scorer: mean confidence of the predicted samples."""
    return float(np.mean(estimator.consensus_map_.rule.confidence(estimator.transform(X))))


def test_splitters_cut_samples_of_views(data):
    scores = cross_validate(lf.GlobalAlignmentClustering(3, random_state=0), data.views, cv=KFold(3), scoring=stability)
    assert len(scores["test_score"]) == 3
    assert np.all(scores["test_score"] > 0)


def test_grid_search_without_labels(data):
    search = GridSearchCV(
        lf.GlobalAlignmentClustering(3, random_state=0, similarity=lf.GraphSimilarity()),
        {"regularization": [0.1, 1.0], "similarity__n_neighbors": [5, 10]},
        scoring=stability,
        cv=3,
    ).fit(data.views)
    assert search.best_params_["regularization"] in (0.1, 1.0)
    assert len(search.predict(data.views)) == 150


def test_grid_search_over_precomputed_kernels(kernels):
    search = GridSearchCV(
        lf.GlobalAlignmentClustering(3, random_state=0, similarity="precomputed"),
        {"regularization": [0.1, 1.0]},
        scoring=stability,
        cv=3,
    ).fit(np.stack(kernels, axis=-1))
    assert search.cv_results_["split0_test_score"].shape == (2,)


def test_pipeline_output_frames_and_repr(data):
    table = pd.DataFrame(np.hstack(data.views.arrays), columns=[f"x{column}" for column in range(18)])
    views = [slice(0, 4), slice(4, 10), slice(10, 18)]
    pipeline = make_pipeline(StandardScaler(), lf.GlobalAlignmentClustering(3, views=views, random_state=0))
    labels = pipeline.set_output(transform="pandas").fit_predict(table)
    np.testing.assert_array_equal(pipeline.predict(table), labels)
    out = pipeline.transform(table)
    assert list(out.columns) == [f"globalalignmentclustering{column}" for column in range(3)]
    assert "GlobalAlignmentClustering" in pipeline._repr_html_()


def test_no_convergence_always_warns(data):
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        lf.GlobalAlignmentClustering(3, max_iter=1).fit(data.views)


def test_verbose_writes_to_the_logger(data, caplog, capsys):
    with caplog.at_level(logging.INFO, logger="latefusion"):
        model = lf.GlobalAlignmentClustering(3, verbose=True).fit(data.views)
    assert len(caplog.records) == model.n_iter_
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("reference", ["kernel", "graph", lf.GraphSimilarity(5)])
def test_a_reference_of_all_views_side_by_side(data, estimator, reference, tmp_path):
    model = estimator(3, reference=reference, random_state=0).fit(data.views)
    assert lf.metrics.clustering_accuracy(data.target, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)
    np.testing.assert_allclose(model.transform(data.views), model.consensus_, atol=1e-8)
    mean = estimator(3, random_state=0).fit(data.views)
    for own, other in zip(model.partitions_, mean.partitions_, strict=True):
        np.testing.assert_allclose(own @ own.T, other @ other.T, atol=1e-8)
    # The stronger the pull, the nearer the consensus is to the similarity of all views side by side.
    reference_rows = model._partitions.mean.rows
    apart = [
        np.linalg.norm(point.consensus @ point.consensus.T - reference_rows @ reference_rows.T)
        for point in estimator(3, reference=reference).regularization_path(data.views, [0.0, 1.0, 1e4])
    ]
    if estimator is lf.GlobalAlignmentClustering:
        assert apart[0] > apart[1] > apart[2]
        assert apart[2] < 1e-2
    lf.save(model, tmp_path / "groups.model")
    np.testing.assert_array_equal(lf.load(tmp_path / "groups.model").predict(data.views), model.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("missing", ["zero", "impute"])
def test_new_samples_without_a_place_among_all_views(data, estimator, missing):
    model = estimator(3, reference="graph", missing=missing, random_state=0).fit(data.views)
    named = dict(zip(data.views.names, data.views.arrays, strict=True))
    for absent in named:
        labels = model.predict({name: view for name, view in named.items() if name != absent})
        assert lf.metrics.clustering_accuracy(data.target, labels) > 0.8


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_reference_of_all_views_needs_columns_of_all_samples(data, kernels, estimator):
    arrays = data.views.arrays
    with pytest.raises(
        ValueError, match=r"reference='graph' .* view 'view_1' is a precomputed kernel.* reference='mean'"
    ):
        estimator(3, reference="graph", similarity=["kernel", "precomputed"]).fit([arrays[0], kernels[1]])
    with pytest.raises(ValueError, match=r"view 'b' is a given partition"):
        estimator(3, reference="graph").fit({"a": arrays[0], "b": data.target.astype(str)})
    holes = [arrays[0], arrays[1].copy()]
    holes[1][:4] = np.nan
    with pytest.raises(ValueError, match="view 'view_1' is missing for 4 of 150 samples"):
        estimator(3, reference="kernel").fit(holes)
    with pytest.raises(ValueError, match="'reference' parameter"):
        estimator(3, reference="median").fit(arrays)
