"""Properties of all comparison methods, from one table of their attributes."""

import re

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import latefusion as lf
from latefusion.baselines import METHODS
from latefusion.experiments.printed import printed_methods

# Shapes in n samples, m views, k clusters, i iterations, r anchors, a anchors of all views, d columns of all views and
# b base clusterings.
RESULT = {"labels_": "n", "objective_": "i", "n_iter_": "", "converged_": ""}
CONSENSUS = {"consensus_": "nk"}
WEIGHTS = {"view_weights_": "m"}
ANCHORS = {"anchor_graph_": "nr"}
GRAPH = {"graph_": "nn", "n_neighbors_": ""}
BIPARTITE = {"graph_": "nr", "n_anchors_": "", "n_components_": ""}
SINGLE_VIEWS = {"view_": "", "view_consensus_": "mnk", "view_labels_": "mn", "view_objectives_": "m"}
ROTATIONS = {"rotations_": "mkk"}

# All attributes that `fit` of a method sets, besides those that describe its input.
ATTRIBUTES = {
    "concat-kmeans": RESULT | {"objective_": "1"},
    "concat-spectral": RESULT | {"objective_": "1"},
    "A-MKKM": RESULT | CONSENSUS | WEIGHTS,
    "SB-KKM": RESULT | CONSENSUS | WEIGHTS | SINGLE_VIEWS,
    "MKKM": RESULT | CONSENSUS | WEIGHTS,
    "CRSC": RESULT | {"view_embeddings_": "mnk"},
    "CRSC-centroid": RESULT | CONSENSUS | {"view_embeddings_": "mnk"},
    "RMKKM": RESULT | WEIGHTS,
    "RMSC": RESULT | CONSENSUS,
    "LMKKM": RESULT | CONSENSUS | WEIGHTS | {"sample_weights_": "nm"},
    "MKKM-MR": RESULT | CONSENSUS | WEIGHTS,
    "LKAM": RESULT | CONSENSUS | WEIGHTS,
    "SC": RESULT | CONSENSUS | WEIGHTS | SINGLE_VIEWS | {"view_losses_": "m"},
    "Co-reg": RESULT | {"view_embeddings_": "mnk"},
    "LMSC": RESULT | CONSENSUS,
    "MVGL": RESULT | CONSENSUS | WEIGHTS | GRAPH | {"n_components_": "", "n_neighbors_": "m", "sample_weights_": "nm"},
    "MvWCMD": RESULT | CONSENSUS | WEIGHTS | GRAPH,
    "GMC": RESULT | CONSENSUS | WEIGHTS | GRAPH | {"n_components_": ""},
    "SWMC": RESULT | CONSENSUS | WEIGHTS | GRAPH | {"n_components_": ""},
    "SimpleMKKM": RESULT | CONSENSUS | WEIGHTS,
    "OPLFMVC": RESULT | CONSENSUS | WEIGHTS | ROTATIONS,
    "LF-IMVC": RESULT | CONSENSUS | ROTATIONS,
    "EE-IMVC": RESULT | CONSENSUS | WEIGHTS | ROTATIONS,
    "SNF": RESULT | CONSENSUS | GRAPH,
    "NEMO": RESULT | CONSENSUS | GRAPH | {"objective_": "1", "n_neighbors_": "m"},
    "LMVSC": RESULT | CONSENSUS | {"anchor_graph_": "na", "objective_": "1"},
    "SMVSC": RESULT | CONSENSUS | WEIGHTS | ANCHORS,
    "OPMC": RESULT | {"cluster_centers_": "kd"},
    "FPMVS-CAG": RESULT | CONSENSUS | WEIGHTS | ANCHORS,
    "EOMSC-CA": RESULT | CONSENSUS | WEIGHTS | BIPARTITE,
    "SFMC": RESULT | CONSENSUS | WEIGHTS | BIPARTITE | {"n_neighbors_": ""},
    "AIMC": RESULT | WEIGHTS,
    "OMSC": RESULT | WEIGHTS | ANCHORS,
    "FastMICE": RESULT | CONSENSUS | {"base_labels_": "nb"},
    "LF-PGR": RESULT | CONSENSUS | {"graph_": "nn", "view_embeddings_": "mnk"},
}

# Attributes that depend on a parameter and are not there by default.
OPTIONAL = {"CRSC": CONSENSUS, "Co-reg": CONSENSUS}

# Methods whose objective provably never rises (-1) or never falls (+1) from one iteration to the next.
MONOTONE = {"MKKM": -1, "MKKM-MR": -1, "LKAM": -1, "LMKKM": -1, "SimpleMKKM": -1, "MvWCMD": -1}
MONOTONE |= {"CRSC": 1, "CRSC-centroid": 1, "Co-reg": 1, "OPLFMVC": 1, "LF-IMVC": 1, "EE-IMVC": 1}
MONOTONE |= {"OPMC": -1, "AIMC": -1}

INCOMPLETE = ("LF-IMVC", "EE-IMVC", "OPLFMVC", "NEMO")

# LMSC looks for subspaces instead of clouds: its own test plants some.
SUBSPACES = ("LMSC",)

# Hard labels are part of the iteration, which starts from random centres or assignments, so that on views without clear
# clusters the local optimum depends on the order of the samples.
HARD_LABELS = ("concat-kmeans", "RMKKM", "MvWCMD", "OPLFMVC")
# The embeddings of the views are updated one after the other, in the order of the views.
SEQUENTIAL = ("CRSC", "Co-reg")

# Every view given twice does not change the problem: the common factor of all weights or distances cancels.
DOUBLING = ("concat-kmeans", "concat-spectral", "A-MKKM", "SB-KKM", "MKKM", "CRSC-centroid", "SC", "SWMC", "SimpleMKKM")
DOUBLING += ("OPMC", "SFMC", "LMVSC", "AIMC")

# Methods on affinities, which are not centred and have a width of their own.
AFFINITIES = ("CRSC", "CRSC-centroid", "Co-reg", "RMSC", "SC")


def every_method(*names, without=(), **options):
    chosen = [name for name in names or METHODS if name not in without]
    return pytest.mark.parametrize("method", [pytest.param(METHODS[name](**options), id=name) for name in chosen])


def name_of(request):
    return request.node.callspec.id


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(90, 3, n_views=3, n_features=[5, 8, 11], noise=0.8, random_state=0)


@pytest.fixture(scope="module")
def blurred():
    """Views whose clusters overlap."""
    return lf.datasets.make_views(60, 3, n_views=4, n_features=[5, 8, 11, 6], noise=2.5, random_state=1)


def test_all_methods_of_the_paper_and_no_unstated_ones_are_there():
    ours = {"LF-MVC-GAM", "LF-MVC-LAM"}
    printed = {method for table in ("kernel", "graph", "large", "swmc") for method in printed_methods(table)}
    assert len(printed) > 15
    assert printed - ours <= set(METHODS)
    assert list(ATTRIBUTES) == list(METHODS)


# The checks ask for eight clusters of ten random samples, on which some methods do not converge.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([method() for method in METHODS.values()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_method(n_clusters=3, random_state=0)
def test_fit_sets_the_stated_attributes_with_their_shapes(method, blurred, request):
    stated = ATTRIBUTES[name_of(request)]
    model = clone(method).fit(blurred.views)
    sizes = {"n": 60, "m": 4, "k": 3, "i": model.n_iter_, "1": 1, "d": 30, "b": 20, "a": 12}
    sizes["r"] = getattr(model, "n_anchors_", 3)
    for name, shape in stated.items():
        assert np.shape(getattr(model, name)) == tuple(sizes[axis] for axis in shape), name
    assert model.labels_.dtype == np.intp
    assert np.issubdtype(model.objective_.dtype, np.floating)
    assert np.isfinite(model.objective_).all()
    assert isinstance(model.n_iter_, int)
    assert model.n_iter_ >= 1
    assert isinstance(model.converged_, bool)
    # What describes the input is the same for all methods.
    plain = METHODS["concat-kmeans"](n_clusters=3, random_state=0).fit(blurred.views)
    about_input = fitted_attributes(plain) - set(ATTRIBUTES["concat-kmeans"])
    assert fitted_attributes(model) - about_input == set(stated)


def fitted_attributes(model):
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


def test_docstrings_state_the_attributes_and_the_paper():
    for name, method in METHODS.items():
        sections = dict(
            re.findall(
                r"^ {4}([A-Z][\w ]+)\n {4}-+\n(.*?)(?=^ {4}[A-Z][\w ]+\n {4}-+$|\Z)",
                method.__doc__,
                re.DOTALL | re.MULTILINE,
            )
        )
        listed = re.findall(r"^ {4}(\w+_(?:, \w+_)*)(?: :|$)", sections["Attributes"], re.MULTILINE)
        assert sorted(", ".join(listed).split(", ")) == sorted(ATTRIBUTES[name] | OPTIONAL.get(name, {})), name
        assert ("References" in sections) == (not name.startswith("concat")), name


@every_method(n_clusters=3, random_state=0, without=SUBSPACES)
def test_planted_clusters_are_found(method, data):
    assert adjusted_rand_score(data.target, clone(method).fit_predict(data.views)) > 0.9


# Bases and the order of anchors are arbitrary, the inner products of rows are not.
PRODUCTS = ("nk", "mnk", "nr", "na")
BY_ORDER = ("m", "nm", "nn", *PRODUCTS)


def assert_equivariant(reference, model, shapes, rows, order, atol):
    """Attributes of a model on permuted samples and views are those of the reference, permuted alike."""
    for name, shape in shapes.items():
        before, after = getattr(reference, name), getattr(model, name)
        if scipy.sparse.issparse(before):
            before, after = before.toarray(), after.toarray()
        if shape in PRODUCTS:
            before, after = before @ np.swapaxes(before, -1, -2), after @ np.swapaxes(after, -1, -2)
            shape = shape[:-1] + "n"
        positions = {"n": rows, "m": order}
        np.testing.assert_allclose(after, before[np.ix_(*[positions[axis] for axis in shape])], atol=atol, err_msg=name)


def permuted(views, rows, order):
    return [views.arrays[position][rows] for position in order]


@every_method(n_clusters=3, random_state=0)
def test_order_of_views_and_samples_does_not_matter(method, data, request):
    rows, order = np.random.default_rng(0).permutation(90), [2, 0, 1]
    reference = clone(method).fit(data.views)
    model = clone(method).fit(permuted(data.views, rows, order))
    assert adjusted_rand_score(reference.labels_[rows], model.labels_) == 1.0
    by_order = {name: shape for name, shape in ATTRIBUTES[name_of(request)].items() if shape in BY_ORDER}
    assert_equivariant(reference, model, by_order, rows, order, atol=1e-4)


@every_method(n_clusters=3, random_state=0, without=(*HARD_LABELS, *SEQUENTIAL))
def test_order_does_not_matter_where_clusters_overlap(method, blurred, request):
    """Labels may differ there, since k-means starts at random samples; what it is given does not."""
    rows, order = np.random.default_rng(0).permutation(60), [2, 0, 3, 1]
    reference = clone(method).fit(blurred.views)
    model = clone(method).fit(permuted(blurred.views, rows, order))
    from_labels = ("view_objectives_", "view_losses_") if name_of(request) == "SC" else ()
    shapes = {name: shape for name, shape in ATTRIBUTES[name_of(request)].items() if shape in BY_ORDER}
    shapes = {name: shape for name, shape in shapes.items() if name not in from_labels}
    assert_equivariant(reference, model, shapes, rows, order, atol=1e-8)


@every_method(*DOUBLING, n_clusters=3, random_state=0)
def test_every_view_twice_is_every_view_once(method, blurred):
    once = clone(method).fit(blurred.views)
    twice = clone(method).fit([*blurred.views.arrays, *blurred.views.arrays])
    np.testing.assert_array_equal(twice.labels_, once.labels_)


@every_method(
    *[name for name, stated in ATTRIBUTES.items() if "view_weights_" in stated and "view_" not in stated],
    n_clusters=3,
    random_state=0,
)
def test_identical_views_have_identical_weights(method, blurred):
    weights = clone(method).fit([*blurred.views.arrays, blurred.views.arrays[0]]).view_weights_
    assert weights[4] == pytest.approx(weights[0], abs=1e-10)


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
    assert len(steps) > 0
    assert np.all(steps >= -1e-8 * np.max(np.abs(model.objective_)))


@every_method(n_clusters=3, random_state=0)
def test_single_precision_gives_the_same_clusters(method, data):
    single = clone(method).fit([array.astype(np.float32) for array in data.views.arrays])
    assert adjusted_rand_score(clone(method).fit_predict(data.views), single.labels_) == 1.0


@every_method(n_clusters=3, random_state=0, without=SUBSPACES)
def test_precomputed_kernels(method, data):
    kernels = [lf.kernels.gaussian_kernel(array) for array in data.views.arrays]
    model = clone(method).set_params(similarity="precomputed").fit(kernels)
    assert adjusted_rand_score(data.target, model.labels_) > 0.9


@every_method(
    *[name for name, method in METHODS.items() if "kernel" in method().get_params() and name not in AFFINITIES],
    n_clusters=3,
    random_state=0,
)
def test_a_given_kernel_is_as_good_as_the_features_it_comes_from(method, blurred):
    kernels = [lf.kernels.gaussian_kernel(array) for array in blurred.views.arrays]
    given = clone(method).set_params(similarity="precomputed").fit(kernels)
    np.testing.assert_array_equal(given.labels_, clone(method).fit_predict(blurred.views))


@every_method(random_state=0)
@pytest.mark.parametrize("n_clusters", [1, 12])
@pytest.mark.filterwarnings("ignore")
def test_one_cluster_and_one_per_sample(method, n_clusters):
    data = lf.datasets.make_views(12, 3, random_state=0)
    labels = clone(method).set_params(n_clusters=n_clusters).fit_predict(data.views)
    assert labels.shape == (12,)
    assert sorted(set(labels)) == list(range(n_clusters))


@every_method(n_clusters=3, random_state=0)
def test_missing_views_are_handled_or_refused_by_name(method, request):
    data = lf.datasets.make_views(60, 3, noise=0.5, missing=0.2, random_state=0)
    if name_of(request) in INCOMPLETE:
        assert adjusted_rand_score(data.target, clone(method).fit_predict(data.views)) > 0.6
    else:
        with pytest.raises(ValueError, match=f"{type(method).__name__} does not support missing views.*view_0"):
            clone(method).fit(data.views)


@pytest.mark.parametrize("name", METHODS)
def test_parameter_grid_holds_valid_values_of_parameters(name):
    method = METHODS[name]
    for parameter, values in method.parameter_grid.items():
        assert len(set(values)) == len(values) >= 2
        for value in values:
            method(**{parameter: value})._validate_params()
