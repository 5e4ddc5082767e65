"""What every comparison method promises, by the table of methods."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import latefusion as lf
from latefusion.baselines import METHODS

# The names under which the paper's tables and the later papers list the methods.
NAMES = [
    "A-MKKM",
    "SB-KKM",
    "MKKM",
    "CRSC",
    "CRSC-centroid",
    "RMKKM",
    "RMSC",
    "LMKKM",
    "MKKM-MR",
    "LKAM",
    "SC",
    "Co-reg",
    "LMSC",
    "MVGL",
    "MvWCMD",
    "GMC",
    "SWMC",
    "SimpleMKKM",
    "OPLFMVC",
    "LF-IMVC",
    "EE-IMVC",
    "concat-kmeans",
    "concat-spectral",
]

# Methods whose objective provably never rises (-1) or never falls (+1) from one iteration to the next.
MONOTONE = {"MKKM": -1, "MKKM-MR": -1, "LKAM": -1, "LMKKM": -1, "SimpleMKKM": -1, "MvWCMD": -1}
MONOTONE |= {"CRSC": 1, "CRSC-centroid": 1, "Co-reg": 1, "OPLFMVC": 1, "LF-IMVC": 1, "EE-IMVC": 1}

INCOMPLETE = ("LF-IMVC", "EE-IMVC", "OPLFMVC")

# LMSC looks for subspaces, not for clouds: its own test plants some.
SUBSPACES = ("LMSC",)


def every_method(*, without=(), **options):
    chosen = {name: cls for name, cls in METHODS.items() if name not in without}
    return pytest.mark.parametrize("method", [pytest.param(cls(**options), id=name) for name, cls in chosen.items()])


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(90, 3, n_views=3, n_features=[5, 8, 11], noise=0.8, random_state=0)


def test_all_methods_of_the_paper_are_there():
    assert sorted(METHODS) == sorted(NAMES)


# The checks ask for eight clusters of ten random samples, which some methods rightly call not converged.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([method() for method in METHODS.values()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_method(n_clusters=3, random_state=0, without=SUBSPACES)
def test_planted_clusters_are_found_and_attributes_are_set(method, data):
    model = clone(method).fit(data.views)
    assert adjusted_rand_score(data.target, model.labels_) > 0.9
    assert model.labels_.shape == (90,)
    assert model.objective_.ndim == 1
    assert len(model.objective_) >= 1
    assert np.all(np.isfinite(model.objective_))
    assert model.n_iter_ >= 1
    assert isinstance(model.converged_, bool)
    assert model.n_views_ == 3
    if hasattr(model, "view_weights_"):
        assert model.view_weights_.shape[-1] == 3 or model.view_weights_.shape[0] == 3
    if hasattr(model, "consensus_"):
        assert len(model.consensus_) == 90


@every_method(n_clusters=3, random_state=0)
def test_order_of_views_and_samples_does_not_matter(method, data):
    rows = np.random.default_rng(0).permutation(90)
    reference = clone(method).fit(data.views)
    shuffled = [data.views.arrays[position][rows] for position in (2, 0, 1)]
    model = clone(method).fit(shuffled)
    assert adjusted_rand_score(reference.labels_[rows], model.labels_) == 1.0
    weights = getattr(reference, "view_weights_", None)
    if weights is not None and weights.ndim == 1:
        np.testing.assert_allclose(model.view_weights_, weights[[2, 0, 1]], atol=1e-4)


@every_method(n_clusters=3, random_state=0)
def test_two_fits_with_one_seed_agree_and_leave_the_input_alone(method, data):
    arrays = [array.copy() for array in data.views.arrays]
    first, second = clone(method).fit(arrays), clone(method).fit(arrays)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.objective_, second.objective_)
    for before, after in zip(data.views.arrays, arrays, strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", MONOTONE)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_objective_is_monotone(name, seed):
    data = lf.datasets.make_views(60, 3, noise=2.5, random_state=seed)
    model = METHODS[name](n_clusters=3, random_state=0).fit(data.views)
    steps = MONOTONE[name] * np.diff(model.objective_)
    assert np.all(steps >= -1e-8 * np.max(np.abs(model.objective_)))


@every_method(n_clusters=3, random_state=0, without=SUBSPACES)
def test_single_precision_and_duplicated_views(method, data):
    single = [array.astype(np.float32) for array in data.views.arrays]
    model = clone(method).fit([*single, single[0]])
    assert adjusted_rand_score(data.target, model.labels_) > 0.9


@every_method(n_clusters=3, random_state=0, without=SUBSPACES)
def test_precomputed_kernels(method, data):
    kernels = [lf.kernels.gaussian_kernel(array) for array in data.views.arrays]
    model = clone(method).set_params(partition="precomputed").fit(kernels)
    assert adjusted_rand_score(data.target, model.labels_) > 0.9


@every_method(random_state=0)
@pytest.mark.parametrize("n_clusters", [1, 12])
@pytest.mark.filterwarnings("ignore")
def test_one_cluster_and_one_per_sample(method, n_clusters):
    data = lf.datasets.make_views(12, 3, random_state=0)
    labels = clone(method).set_params(n_clusters=n_clusters).fit_predict(data.views)
    assert len(labels) == 12
    assert np.all((labels >= 0) & (labels < n_clusters))


@every_method(n_clusters=3, random_state=0)
def test_missing_views_are_handled_or_refused_by_name(method):
    data = lf.datasets.make_views(60, 3, noise=0.5, missing=0.2, random_state=0)
    if type(method) in [METHODS[name] for name in INCOMPLETE]:
        assert adjusted_rand_score(data.target, clone(method).fit_predict(data.views)) > 0.6
    else:
        with pytest.raises(ValueError, match=f"{type(method).__name__} needs every sample in every view.*view_0"):
            clone(method).fit(data.views)


@pytest.mark.parametrize("name", METHODS)
def test_parameter_grid_is_data_about_parameters(name):
    method = METHODS[name]
    assert set(method.parameter_grid) <= set(method().get_params())
    for values in method.parameter_grid.values():
        assert len(values) >= 2
        for value in values:
            method(**{next(iter(method.parameter_grid)): value})
    assert method.__doc__
    assert "References" in method.__doc__ or name.startswith("concat")


def test_reconstruction_says_so():
    assert "reconstruction" in METHODS["MvWCMD"].__doc__.lower()
