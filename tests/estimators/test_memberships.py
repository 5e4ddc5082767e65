"""Memberships of all estimators: probabilities that agree with the labels and with repeated clusterings."""

import copy
import importlib.util
import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

import latefusion as lf
from latefusion.estimators import memberships
from latefusion.metrics import calibration_curve

DATA = lf.datasets.make_views(90, 3, n_views=3, n_features=[4, 6, 8], noise=2.5, random_state=0)
NEW = lf.datasets.make_views(200, 3, n_views=3, n_features=[4, 6, 8], noise=2.5, random_state=1).views
RUNS = [np.random.default_rng(seed).permutation(3)[DATA.target] for seed in range(3)]
RUNS = [np.where(np.random.default_rng(9 + p).random(90) < 0.25, (one + 1) % 3, one) for p, one in enumerate(RUNS)]
GAM, LAM = lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering
MODELS = {
    "late fusion": (lf.LateFusionClustering(3, random_state=0), DATA.views),
    "late fusion, rotation": (lf.LateFusionClustering(3, assign_labels="rotation", random_state=0), DATA.views),
    **{
        f"global, {rule}": (GAM(3, assign_labels=rule, random_state=0), DATA.views)
        for rule in ("kmeans", "average", "mixture", "rotation", "cluster_qr")
    },
    "local": (LAM(3, random_state=0), DATA.views),
    "one cluster": (GAM(1, random_state=0), DATA.views),
    "consensus": (lf.ConsensusClustering(3, random_state=0), RUNS),
}


@pytest.fixture(autouse=True)
def two_divisions(monkeypatch):
    """Fewer repetitions than usual, since only some of the tests are about their number."""
    monkeypatch.setattr(memberships, "N_DIVISIONS", 2)


@pytest.fixture(scope="module")
def fitted():
    return {name: (clone(model).fit(X), X) for name, (model, X) in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_rows_sum_to_one_and_the_largest_is_the_label(fitted, name):
    model, _ = fitted[name]
    found = model.memberships_
    assert found.shape == (90, len(np.unique(model.labels_)))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(np.argmax(found, axis=1), model.labels_)
    assert found.min() >= 0


@pytest.mark.parametrize("name", MODELS)
def test_memberships_of_training_samples_are_those_of_prediction(fitted, name):
    model, X = fitted[name]
    np.testing.assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "consensus"])
def test_the_largest_membership_of_new_samples_is_their_label(fitted, name):
    model, _ = fitted[name]
    np.testing.assert_array_equal(np.argmax(model.predict_proba(NEW), axis=1), model.predict(NEW))


def test_a_row_that_fits_several_clusters_equally_well_has_the_label_of_the_first():
    model = GAM(3, random_state=0).fit(DATA.views)
    rule = model.consensus_map_.rule
    rows = np.zeros((2, 3))
    centers = rule.centers.copy()
    centers[2] = centers[1]  # two clusters with one center
    rows = np.concatenate([rows, centers])
    rule = type(rule)(centers)
    found = model.calibration_.membership(rule.scores(rows))
    np.testing.assert_array_equal(np.argmax(found, axis=1), rule.predict(rows))


@pytest.mark.parametrize("cls", [lf.LateFusionClustering, GAM, LAM])
@pytest.mark.parametrize("missing", ["zero", "impute"])
def test_fewer_views_are_less_certain(cls, missing):
    model = cls(3, missing=missing, random_state=0).fit(DATA.views)
    certain = model.predict_proba(NEW).max(axis=1)
    last = certain
    for views in (NEW.arrays[:2], NEW.arrays[:1]):
        names = NEW.names[: len(views)]
        own = model.predict_proba(dict(zip(names, views, strict=True)))
        np.testing.assert_allclose(own.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(np.argmax(own, axis=1), model.predict(dict(zip(names, views, strict=True))))
        assert own.max(axis=1).mean() < last.mean()
        last = own.max(axis=1)


@pytest.mark.parametrize("cls", [lf.LateFusionClustering, GAM, LAM])
def test_training_samples_with_missing_views(cls):
    mask = np.random.default_rng(0).random((90, 3)) < 0.8
    mask[~mask.any(axis=1), 0] = True
    views = lf.Views(DATA.views.arrays, mask=mask)
    model = cls(3, random_state=0).fit(views)
    np.testing.assert_array_equal(np.argmax(model.memberships_, axis=1), model.labels_)
    np.testing.assert_allclose(model.predict_proba(views), model.memberships_, atol=1e-6)


@pytest.mark.parametrize("cls", [GAM, LAM])
def test_noisy_samples_with_missing_views_are_less_certain(cls):
    mask = np.random.default_rng(0).random((90, 3)) < 0.8
    mask[~mask.any(axis=1), 0] = True
    own = cls(3, random_state=0).fit(lf.Views(DATA.views.arrays, mask=mask)).memberships_.max(axis=1)
    complete = mask.all(axis=1)
    assert own[complete].mean() > own[~complete].mean()


@pytest.mark.parametrize("cls", [lf.LateFusionClustering, GAM])
@pytest.mark.parametrize("seed", [0, 1])
def test_samples_with_missing_views_are_less_certain(cls, seed):
    data = lf.datasets.make_views(240, 3, n_views=3, noise=1.0, random_state=seed)
    mask = np.random.default_rng(seed).random((240, 3)) < 0.7
    mask[~mask.any(axis=1), 0] = True
    own = cls(3, random_state=0).fit(lf.Views(data.views.arrays, mask=mask)).memberships_.max(axis=1)
    complete = mask.all(axis=1)
    assert 1 - own[complete].mean() < 0.7 * (1 - own[~complete].mean())


@pytest.mark.parametrize("cls", [lf.LateFusionClustering, GAM])
def test_precomputed_kernels(cls):
    kernels = [lf.kernels.gaussian_kernel(view) for view in DATA.views.arrays]
    kernels[1] = kernels[1] * np.outer(*[np.linspace(1, 2, 90)] * 2)  # self-similarities that differ
    model = cls(3, similarity="precomputed", random_state=0).fit(kernels)
    diagonals = [np.diagonal(one) for one in kernels]
    np.testing.assert_allclose(model.predict_proba(kernels, diagonals=diagonals), model.memberships_, atol=1e-6)
    new = [one[:20] for one in kernels]
    with pytest.raises(ValueError, match=r"kernel of shape \(20, 90\).* of shape \(90, 90\)"):
        model.calibrate_memberships(new)


def test_clear_clusters_are_nearly_certain():
    data = lf.datasets.make_views(120, 3, n_views=2, separation=12.0, noise=0.2, random_state=0)
    for cls in (lf.LateFusionClustering, GAM):
        model = cls(3, random_state=0).fit(data.views)
        assert model.calibration_.kept == 1.0
        assert np.quantile(model.memberships_.max(axis=1), 0.05) > 0.98


def repeated(model, views, seed, n_divisions=6):
    """Own memberships, and how often samples keep their cluster in other fits to other samples."""
    generator = np.random.default_rng(seed)
    n, k = len(views), model.n_clusters
    kept = np.zeros(n)
    for division in range(n_divisions):
        order = generator.permutation(n)
        for seen, unseen in ((order[: n // 2], order[n // 2 :]), (order[n // 2 :], order[: n // 2])):
            again = clone(model).set_params(random_state=1000 + division).fit(views[seen])
            table = np.zeros((k, k))
            np.add.at(table, (again.labels_, model.labels_[seen]), 1)
            names = linear_sum_assignment(table, maximize=True)[1]
            kept[unseen] += names[again.predict(views[unseen])] == model.labels_[unseen]
    return model.memberships_.max(axis=1), kept, np.full(n, n_divisions)


def test_memberships_in_noise_are_low_and_calibrated(monkeypatch):
    """Clusters of a cloud of points are arbitrary parts of it: other samples give other ones."""
    monkeypatch.setattr(memberships, "N_DIVISIONS", 6)
    generator = np.random.default_rng(0)
    views = lf.Views([generator.standard_normal((300, 6)) for _ in range(2)])
    model = GAM(4, random_state=0).fit(views)
    own, kept, compared = repeated(model, views, seed=5)
    assert own.mean() < 0.7
    assert calibration_curve(own, kept, compared).error < 0.08


def test_samples_in_another_order_have_their_memberships():
    """With the same calibration, whose halves depend on the order of the samples."""
    model = GAM(3, random_state=0).fit(DATA.views)
    order = np.random.default_rng(0).permutation(90)
    np.testing.assert_allclose(model.predict_proba(DATA.views[order]), model.memberships_[order], atol=1e-6)


def test_prediction_stores_nothing_and_is_repeatable():
    model = GAM(3, random_state=0).fit(DATA.views)
    before = dict(vars(model))
    first = model.predict_proba(NEW)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict_proba(NEW), first)
    np.testing.assert_array_equal(clone(model).fit(DATA.views).predict_proba(NEW), first)


def test_the_calibration_is_computed_once_and_by_the_parameters_of_the_fit():
    model = GAM(3, random_state=0).fit(DATA.views)
    expected = clone(model).fit(DATA.views).calibration_
    model.set_params(kernel="linear", regularization=100.0)
    found = model.calibration_
    assert found.membership == expected.membership
    assert model.calibration_ is found


def test_a_second_fit_has_its_own_calibration():
    model = GAM(3, random_state=0).fit(DATA.views)
    first = model.calibration_
    model.calibrate_memberships(DATA.views)
    model.fit(DATA.views[:60])
    assert model.calibration_.n_samples == 60
    assert first.n_samples == 90


def test_a_chosen_number_of_clusters_is_kept():
    views = lf.datasets.make_views(90, 3, n_views=2, random_state=0).views
    model = lf.LateFusionClustering(range(2, 5), random_state=0).fit(views)
    assert model.memberships_.shape == (90, model.n_clusters_)


def test_warnings_of_halves_are_not_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = lf.LateFusionClustering(3, max_iter=100, random_state=0).fit(DATA.views)
        assert model.memberships_.shape == (90, 3)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["copy", "deepcopy", "pickle"]
)
@pytest.mark.parametrize("before", [True, False])
def test_copies_have_the_memberships(again, before):
    model = GAM(3, random_state=0).fit(DATA.views)
    expected = model.memberships_ if before else clone(model).fit(DATA.views).memberships_
    twin = again(model)
    np.testing.assert_array_equal(twin.memberships_, expected)
    assert ("_training_views" in vars(twin)) != before


@pytest.mark.parametrize("name", ["late fusion", "global, rotation", "global, average", "local", "consensus"])
def test_model_files_contain_a_calibration_that_was_computed(fitted, name, tmp_path):
    model, X = fitted[name]
    expected = model.memberships_
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    assert again.calibration_.membership == model.calibration_.membership
    assert again.calibration_.curve.error == model.calibration_.curve.error
    np.testing.assert_allclose(again.memberships_, expected, rtol=1e-12)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_model_file_without_a_calibration_says_so_and_can_be_calibrated(tmp_path):
    model = GAM(3, random_state=0).fit(DATA.views)
    lf.save(model, tmp_path / "m")
    again = lf.load(tmp_path / "m")
    with pytest.raises(ValueError, match=r"GlobalAlignmentClustering are not calibrated.*calibrate_memberships\(X\)"):
        again.predict_proba(NEW)
    assert again.calibrate_memberships(DATA.views) is again
    np.testing.assert_allclose(again.memberships_, model.memberships_, atol=1e-6)


def test_models_of_many_samples_are_calibrated_by_some(monkeypatch):
    monkeypatch.setattr("latefusion.estimators.new_samples.LARGEST_TRAINING", 89)
    model = GAM(3, random_state=0).fit(DATA.views)
    with pytest.raises(ValueError, match="some thousand of them"):
        model.memberships_  # noqa: B018
    model.calibrate_memberships(DATA.views[:70])
    assert model.calibration_.n_samples == 70
    assert model.memberships_.shape == (90, 3)


def test_views_that_were_changed_in_place_are_refused():
    views = [view.copy() for view in DATA.views.arrays]
    model = GAM(3, random_state=0).fit(views)
    views[1][3, 2] += 1
    with pytest.raises(ValueError, match="changed in place after fit"):
        model.memberships_  # noqa: B018


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="no torch")
@pytest.mark.parametrize("cls", [GAM, LAM])
def test_arrays_of_torch(cls):
    import torch

    views = [torch.asarray(view) for view in DATA.views.arrays]
    model = cls(3, kernel="linear", random_state=0).fit(views).calibrate_memberships(views)
    assert isinstance(model.memberships_, torch.Tensor)
    assert model.memberships_.device == model.confidence_.device
    np.testing.assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)
    np.testing.assert_allclose(model.predict_proba(views), model.memberships_, atol=1e-6)
    expected = cls(3, kernel="linear", random_state=0).fit(DATA.views).calibration_
    assert model.calibration_.kept == pytest.approx(expected.kept, abs=0.1)


def test_too_few_samples_for_halves():
    model = GAM(3, random_state=0).fit(DATA.views[:5])
    with pytest.raises(ValueError, match="halves of the samples, and 2 samples cannot be clustered"):
        model.memberships_  # noqa: B018


def test_too_few_samples_of_a_view_for_halves():
    mask = np.ones((90, 3), dtype=bool)
    mask[20:, 1] = False
    model = GAM(15, random_state=0).fit(lf.Views(DATA.views.arrays, mask=mask))
    with pytest.raises(
        ValueError, match=r"halves of the samples, and 45 samples .* view 'view_1' has only \d+ of them"
    ):
        model.memberships_  # noqa: B018


@pytest.mark.parametrize("labels", [np.r_[1, np.zeros(89, dtype=int)], np.r_[0, 1, np.full(88, -1)]])
def test_a_clustering_with_fewer_than_two_clusters_in_a_half_is_left_out_there(labels):
    """Its two clusters cannot both be in both halves; memberships are nearly those without it."""
    model, without = (lf.ConsensusClustering(3, random_state=0).fit(runs) for runs in ([*RUNS, labels], RUNS))
    assert model.memberships_.shape == (90, 3)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)
    own, other = (one.memberships_.max(axis=1) for one in (model, without))
    assert np.mean(np.abs(np.sort(own) - np.sort(other))) < 0.1


def test_clusterings_that_all_have_one_cluster_in_a_half_are_refused():
    rare = np.r_[np.zeros(89, dtype=int), 1]
    model = lf.ConsensusClustering(2, random_state=0).fit([rare, rare])
    with pytest.raises(ValueError, match="45 samples cannot be clustered: every partition has fewer than two clusters"):
        model.memberships_  # noqa: B018


def test_not_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        GAM(3).memberships_  # noqa: B018
