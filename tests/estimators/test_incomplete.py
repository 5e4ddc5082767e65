"""Samples that lack views, in all three estimators: the same result however holes are given, and for new samples."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import latefusion as lf
from latefusion import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering, Views
from latefusion.estimators.new_samples import weigh_confidence
from latefusion.metrics import clustering_accuracy, observed_agreement

K = 3
GAM, LAM, LFC = GlobalAlignmentClustering, LocalAlignmentClustering, LateFusionClustering
MODELS = {
    "GAM": GAM(K, random_state=0),
    "GAM, graph, impute": GAM(K, similarity="graph", missing="impute", random_state=0),
    "GAM, linear factor": GAM(K, similarity=lf.KernelSimilarity("linear", method="factor"), random_state=0),
    "LAM": LAM(K, random_state=0),
    "LAM, impute": LAM(K, missing="impute", random_state=0),
    "LFC": LFC(K, random_state=0),
    "LFC, align": LFC(K, missing="zero", random_state=0),
    "LFC, graph": LFC(K, similarity="graph", regularization=1.0, random_state=0),
}
FAST = ("GAM", "LAM, impute", "LFC")


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(90, K, random_state=0)


@pytest.fixture(scope="module")
def mask():
    mask = np.random.default_rng(3).random((90, 3)) > 0.35
    mask[~mask.any(axis=1), 1] = True
    return mask


@pytest.fixture(scope="module")
def fitted(data, mask):
    """Every model, fitted with holes, once."""
    cache = {}

    def fit(name):
        if name not in cache:
            cache[name] = lf_clone(MODELS[name]).fit(Views(data.views.arrays, mask=mask))
        return cache[name]

    return fit


def lf_clone(model):
    return type(model)(**model.get_params(deep=False))


def with_nan(arrays, mask):
    return [np.where(seen[:, None], view, np.nan) for view, seen in zip(arrays, mask.T, strict=True)]


@pytest.mark.parametrize("name", MODELS)
def test_a_mask_without_holes_changes_no_bit(data, name):
    plain = lf_clone(MODELS[name]).fit(data.views.arrays)
    masked = lf_clone(MODELS[name]).fit(Views(data.views.arrays, mask=np.ones((90, 3), dtype=bool)))
    np.testing.assert_array_equal(plain.labels_, masked.labels_)
    np.testing.assert_array_equal(plain.consensus_, masked.consensus_)
    np.testing.assert_array_equal(plain.confidence_, masked.confidence_)
    np.testing.assert_array_equal(plain.n_observed_views_, 3)


@pytest.mark.parametrize("name", MODELS)
def test_planted_clusters_are_found_and_found_again(data, mask, fitted, name):
    model = fitted(name)
    assert clustering_accuracy(data.target, model.labels_) > 0.8
    np.testing.assert_array_equal(model.predict(with_nan(data.views.arrays, mask)), model.labels_)
    np.testing.assert_allclose(model.transform(Views(data.views.arrays, mask=mask)), model.consensus_, atol=1e-5)
    np.testing.assert_array_equal(model.n_observed_views_, mask.sum(axis=1))
    np.testing.assert_array_equal(model.observed_, mask)
    assert np.isfinite(model.consensus_).all()


@pytest.mark.parametrize("name", FAST)
def test_every_encoding_of_missing_views_gives_the_same_result(data, mask, fitted, name):
    arrays, reference = data.views.arrays, fitted(name)
    garbage = [np.where(seen[:, None], view, 1e6) for view, seen in zip(arrays, mask.T, strict=True)]
    for X in (with_nan(arrays, mask), Views(garbage, mask=mask)):
        np.testing.assert_array_equal(lf_clone(MODELS[name]).fit_predict(X), reference.labels_)
    ids = np.array([f"patient {i:02d}" for i in range(90)])
    frames = {
        f"view_{p}": pd.DataFrame(view, index=ids)[seen]
        for p, (view, seen) in enumerate(zip(arrays, mask.T, strict=True))
    }
    joined = lf_clone(MODELS[name]).fit(frames)
    assert sorted(joined.sample_ids_) == ids.tolist()
    order = np.argsort(joined.sample_ids_)
    assert clustering_accuracy(reference.labels_, joined.labels_[order]) > 0.97
    table = np.hstack(with_nan(arrays, mask))
    edges = np.cumsum([0, *(view.shape[1] for view in arrays)])
    columns = [slice(int(start), int(stop)) for start, stop in pairwise(edges)]
    np.testing.assert_array_equal(
        lf_clone(MODELS[name]).set_params(views=columns).fit_predict(table), reference.labels_
    )


@pytest.mark.parametrize("complete", [True, False], ids=["fitted on complete samples", "fitted with holes"])
@pytest.mark.parametrize("name", MODELS)
def test_new_samples_may_have_any_views(data, fitted, name, complete):
    model = lf_clone(MODELS[name]).fit(data.views) if complete else fitted(name)
    new = lf.datasets.make_views(90, K, random_state=0)  # the same samples will do: their labels are known
    named = dict(zip(model.view_names_, new.views.arrays, strict=True))
    whole = clustering_accuracy(data.target, model.predict(named))
    for absent in named:
        rest = {key: view for key, view in named.items() if key != absent}
        found = model.predict(rest)
        assert clustering_accuracy(data.target, found) > whole - 0.15
        holes = Views(list(named.values()), names=list(named), mask=[[key != absent for key in named]] * 90)
        np.testing.assert_array_equal(model.predict(holes), found)
    for key in named:
        rows = model.transform({key: named[key]})
        assert np.isfinite(rows).all()
    with pytest.raises(ValueError, match="All views are missing"):
        model.predict(Views(list(named.values()), names=list(named), mask=np.zeros((90, 3), dtype=bool)))
    with pytest.raises(ValueError, match=r"unknown: \['taste'\]"):
        model.predict({"taste": named[next(iter(named))]})


@pytest.mark.parametrize("name", FAST)
def test_rows_of_new_samples_do_not_depend_on_their_company(data, mask, fitted, name):
    model, X = fitted(name), with_nan(data.views.arrays, mask)
    few = [3, 40, 77]
    np.testing.assert_allclose(model.transform([view[few] for view in X]), model.transform(X)[few], atol=1e-8)


@pytest.mark.parametrize("name", ["GAM", "LAM", "LFC", "LFC, align"])
def test_a_view_of_few_samples_gains_no_weight(data, name):
    few = np.ones((90, 3), dtype=bool)
    few[np.random.default_rng(0).permutation(90)[:60], 2] = False
    weights = [lf_clone(MODELS[name]).fit(Views(data.views.arrays, mask=one)).view_weights_ for one in (None, few)]
    assert weights[1][2] < weights[0][2]


@pytest.mark.parametrize("name", FAST)
def test_samples_of_one_view_are_trusted_less(fitted, mask, name):
    model = fitted(name)
    raw = model.consensus_map_.rule.confidence(model.consensus_)
    alone = mask.sum(axis=1) == 1
    assert (model.confidence_[alone] < raw[alone]).all()
    np.testing.assert_allclose(model.confidence_[mask.all(axis=1)], raw[mask.all(axis=1)])


def test_confidence_is_weighed_by_what_a_sample_has():
    mask = np.array([[1, 1], [1, 0], [0, 1]], dtype=bool)
    np.testing.assert_allclose(weigh_confidence(np.ones(3), np.array([0.6, 0.8]), mask), [1.0, 0.6, 0.8])


def test_agreement_looks_at_observed_samples_only(data, mask):
    generator = np.random.default_rng(0)
    consensus = np.linalg.qr(generator.standard_normal((90, K)))[0]
    partition = np.where(mask[:, :1], consensus @ generator.standard_normal((K, K)), 0.0)
    assert observed_agreement(partition, consensus, mask, 0) == pytest.approx(1.0)
    partition[~mask[:, 0]] = generator.standard_normal((np.sum(~mask[:, 0]), K))
    assert observed_agreement(partition, consensus, mask, 0) == pytest.approx(1.0)


@pytest.mark.parametrize("name", FAST)
def test_kernels_with_holes(data, mask, name):
    kernels = [lf.kernels.gaussian_kernel(view) for view in data.views.arrays]
    holed = [np.where(np.outer(seen, seen), kernel, np.nan) for kernel, seen in zip(kernels, mask.T, strict=True)]
    model = lf_clone(MODELS[name]).set_params(similarity="precomputed").fit(holed)
    assert clustering_accuracy(data.target, model.labels_) > 0.8
    np.testing.assert_array_equal(model.predict(holed), model.labels_)
    cross = [np.where(seen, kernel[:5], 9.0) for kernel, seen in zip(kernels, mask.T, strict=True)]
    spoiled = [np.where(seen, kernel[:5], np.nan) for kernel, seen in zip(kernels, mask.T, strict=True)]
    np.testing.assert_array_equal(model.transform(cross), model.transform(spoiled))


def test_holes_that_depend_on_the_class(data):
    by_class = np.ones((90, 3), dtype=bool)
    for cluster in range(K):
        by_class[data.target == cluster, cluster] = False
    model = LFC(K, random_state=0).fit(Views(data.views.arrays, mask=by_class))
    assert clustering_accuracy(data.target, model.labels_) > 0.9


def test_a_view_given_twice_with_the_same_holes_counts_once(data, mask):
    twice = Views([*data.views.arrays, data.views.arrays[0]], mask=mask[:, [0, 1, 2, 0]])
    model = LFC(K, regularization=1.0, random_state=0).fit(twice)
    np.testing.assert_allclose(model._state.shares, [0.5, 1, 1, 0.5], atol=1e-6)


@pytest.mark.filterwarnings("ignore:Weak structure")
def test_the_number_of_clusters_with_holes(data, mask):
    model = LFC(range(2, 6), random_state=0).fit(Views(data.views.arrays, mask=mask))
    assert model.n_clusters_ == K
    rare = np.ones((90, 3), dtype=bool)
    rare[10:, 1] = False
    with pytest.raises(ValueError, match="one view has about 10"):
        LFC("auto").fit(Views(data.views.arrays, mask=rare))


def test_the_search_looks_at_some_samples_but_at_every_view(monkeypatch):
    from latefusion.selection import spaces

    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 100)
    data = lf.datasets.make_views(600, K, random_state=1)
    mask = np.ones((600, 3), dtype=bool)
    mask[30:, 2] = False
    views = Views(data.views.arrays, mask=mask)
    model = LFC(K, random_state=0).fit(views)
    assert 100 <= model.selection_.n_samples < 200
    assert clustering_accuracy(data.target, model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_paths_with_holes(data, mask):
    views = Views(data.views.arrays, mask=mask)
    path = GAM(K, random_state=0).regularization_path(views, [0.5, 1.0])
    np.testing.assert_array_equal(path[1].labels, GAM(K, random_state=0).fit(views).labels_)
    sizes = LAM(K, random_state=0).neighborhood_path(views, [0.1, 0.3])
    np.testing.assert_array_equal(sizes[0.3][0].labels, LAM(K, random_state=0).fit(views).labels_)


def test_a_view_is_left_out_of_the_samples_that_have_another(mask, fitted):
    verdicts = fitted("LFC").leave_one_view_out()
    for view, verdict in enumerate(verdicts):
        alone = ~np.delete(mask, view, axis=1).any(axis=1)
        assert verdict.left_out == alone.sum() > 0
        assert f"{verdict.left_out} samples have no other view" in str(verdict)
        assert 0 <= verdict.changed <= 0.5
    intervals = fitted("LFC").weight_intervals(10)
    assert (intervals.lower <= intervals.upper).all()


@pytest.mark.parametrize(
    "model",
    [
        GAM(K, random_state=0),
        GAM(K, missing="impute", random_state=0),
        LFC(K, similarity="kernel", regularization=1.0, random_state=0),
    ],
    ids=["GAM", "GAM, impute", "LFC, kernel"],
)
def test_samples_that_coincide_are_found_again(data, mask, model):
    arrays = [view.copy() for view in data.views.arrays]
    arrays[1][::2] = 0.0  # as empty documents
    arrays[0][10:25] = arrays[0][10]
    views = Views(arrays, mask=mask)
    with warnings.catch_warnings():  # what is left of the second view is too little to show a relation
        warnings.filterwarnings("ignore", "View 'view_1' is statistically unrelated")
        model = lf_clone(model).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_of_two_views_the_other_one_is_left(data):
    mask = np.ones((90, 2), dtype=bool)
    mask[:40, 1] = False
    mask[85:, 0] = False
    model = LFC(K, similarity="kernel", regularization=1.0, random_state=0).fit(Views(data.views.arrays[:2], mask=mask))
    first, second = model.leave_one_view_out()
    assert (first.left_out, second.left_out) == (40, 5)
    alone = LFC(K, similarity="kernel", regularization=1.0, random_state=0).fit([data.views.arrays[0][:85]])
    assert second.changed == pytest.approx(1 - clustering_accuracy(model.labels_[:85], alone.labels_))


def test_a_view_of_few_samples_has_no_halves(data):
    mask = np.ones((90, 3), dtype=bool)
    mask[12:, 2] = False
    model = LFC(K, similarity="kernel", regularization=1.0, random_state=0).fit(Views(data.views.arrays, mask=mask))
    with pytest.raises(ValueError, match=r"'view_2' has about 12\. Fit without this view"):
        model.leave_one_view_out()


def test_the_search_chooses_how_rows_are_filled_in(data, mask, fitted):
    model = fitted("LFC")
    assert list(dict.fromkeys(row["n_shared_components"] for row in model.selection_)) == [K, round(K / 2), 2 * K]
    assert model.n_shared_components_ == next(row["n_shared_components"] for row in model.selection_ if row["chosen"])
    assert f"imputed from {model.n_shared_components_} shared component" in model.selection_.reason
    assert model.consensus_map_.fill.model.loadings.shape[1] == model.n_shared_components_
    chosen = next(row["score"] for row in model.selection_ if row["chosen"])
    assert model.criterion()(model.labels_) == pytest.approx(chosen)
    for complete in (fitted("LFC, align"), LFC(K, random_state=0).fit(data.views)):
        assert complete.n_shared_components_ is None
        assert "n_shared_components" not in complete.selection_.columns


def test_fitting_again_without_holes_forgets_them(data, mask):
    model = GAM(K, missing="impute", random_state=0).fit(Views(data.views.arrays, mask=mask))
    model.fit(data.views)
    plain = GAM(K, random_state=0).fit(data.views)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(data.views), plain.labels_)


def test_single_precision_stays(data, mask):
    views = Views([view.astype(np.float32) for view in data.views.arrays], mask=mask)
    for name in FAST:
        model = lf_clone(MODELS[name]).fit(views)
        assert model.consensus_.dtype == np.float32
        assert model.transform(views).dtype == np.float32


@pytest.mark.parametrize("name", FAST)
def test_new_samples_are_as_sure_as_the_training_samples_that_they_are(data, name):
    model = clone(MODELS[name]).fit(data.views)
    labels, confidence = model.predict(data.views, return_confidence=True)
    np.testing.assert_array_equal(labels, model.predict(data.views))
    same = labels == model.labels_
    assert same.mean() > 0.95
    np.testing.assert_allclose(confidence[same], model.confidence_[same], atol=0.02)


@pytest.fixture(scope="module")
def histograms():
    """Two views of sparse histograms, three kinds of them; which samples have which, and which rows are zeros."""
    generator = np.random.default_rng(0)
    target = np.repeat(np.arange(K), 40)
    arrays = []
    for width in (30, 20):
        levels = generator.random((K, width)) ** 4
        view = generator.random((120, width)) * levels[target]
        arrays.append(np.where(generator.random(view.shape) < 0.4, view, 0.0))
    mask = generator.random((120, 2)) > 0.3
    mask[~mask.any(axis=1), 0] = True
    empty = generator.random((120, 2)) < [0.1, 0.4]
    return [np.where(zero[:, None], 0.0, view) for view, zero in zip(arrays, empty.T, strict=True)], mask, empty


@pytest.fixture(scope="module", params=["impute", "zero"])
def with_zeros(histograms, request):
    arrays, mask, _ = histograms
    return LFC(K, missing=request.param, random_state=0).fit(Views(arrays, mask=mask))


def test_rows_of_zeros_are_missing_where_views_are(histograms, with_zeros):
    arrays, mask, empty = histograms
    heard = mask & ~empty
    known = heard.any(axis=1)
    assert not known.all()
    assert set(with_zeros.view_kinds_.values()) == {"distribution"}
    np.testing.assert_array_equal(with_zeros.observed_, heard)
    np.testing.assert_array_equal(with_zeros.n_observed_views_, heard.sum(axis=1))
    declared = lf_clone(with_zeros).fit(Views([view[known] for view in arrays], mask=heard[known]))
    assert_same_fit(with_zeros, declared, known)


def test_rows_of_zeros_of_distributions_are_missing_in_complete_data(histograms):
    arrays, _, empty = histograms
    model = LFC(K, random_state=0).fit(arrays)
    known = ~empty.all(axis=1)
    assert not known.all()
    assert set(model.view_kinds_.values()) == {"distribution"}
    np.testing.assert_array_equal(model.observed_, ~empty)
    declared = lf_clone(model).fit(Views([view[known] for view in arrays], mask=~empty[known]))
    assert_same_fit(model, declared, known)
    np.testing.assert_array_equal(model.predict(arrays), model.labels_)


def test_a_few_rows_of_zeros_leave_data_complete(histograms):
    arrays, _, empty = histograms
    full = ~empty.any(axis=1)
    few = [view[full].copy() for view in arrays]
    few[0][:2] = 0.0
    model = LFC(K, random_state=0).fit(few)
    assert model.view_kinds_["view_0"] == "distribution"
    assert model.observed_.all()
    assert model.n_shared_components_ is None
    few[0][:8] = 0.0
    np.testing.assert_array_equal(lf_clone(model).fit(few).observed_[:, 0], np.arange(full.sum()) >= 8)


def test_rows_of_zeros_of_counts_are_observations_in_complete_data(histograms):
    arrays, _, empty = histograms
    known = ~empty.all(axis=1)
    model = LFC(K, random_state=0).fit([np.ceil(3 * view[known]) for view in arrays])
    assert set(model.view_kinds_.values()) == {"counts"}
    assert model.observed_.all()


def test_a_single_view_keeps_its_rows_of_zeros(histograms):
    arrays, _, _ = histograms
    model = LFC(K, random_state=0).fit([arrays[0]])
    assert model.view_kinds_ == {"view_0": "distribution"}
    assert model.partitions_[0][~arrays[0].any(axis=1)].any()


def assert_same_fit(model, other, samples):
    """Of some samples of a model, another says the same: choices, labels, consensus and weights."""
    assert str(model.selection_) == str(other.selection_)
    assert model.selection_.n_samples == other.selection_.n_samples
    assert clustering_accuracy(model.labels_[samples], other.labels_) == 1.0
    rows = model.consensus_[samples]
    np.testing.assert_allclose(rows @ rows.T, other.consensus_ @ other.consensus_.T, atol=1e-10)
    np.testing.assert_allclose(model.confidence_[samples], other.confidence_, atol=1e-10)
    np.testing.assert_allclose(model.view_weights_, other.view_weights_, atol=1e-10)
    np.testing.assert_allclose(model.agreement_, other.agreement_, atol=1e-10)
    np.testing.assert_allclose(model.weight_intervals(5).lower, other.weight_intervals(5).lower, atol=1e-10)


@pytest.mark.parametrize("only_known", [True, False], ids=["every sample has something", "some have nothing"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_word_weights_come_from_observed_rows(histograms, only_known, sparse):
    arrays, mask, empty = histograms
    heard = mask & ~empty
    known = heard.any(axis=1)
    samples = known if only_known else np.ones(len(known), dtype=bool)
    words = [np.ceil(3 * view) for view in arrays]
    words = list(map(scipy.sparse.csr_array, words)) if sparse else words
    model = LFC(K, random_state=0).fit(Views([view[samples] for view in words], mask=mask[samples]))
    assert set(model.view_kinds_.values()) == {"counts"}
    declared = lf_clone(model).fit(Views([view[known] for view in words], mask=heard[known]))
    assert_same_fit(model, declared, known[samples])


def test_the_kind_of_a_view_comes_from_observed_rows():
    """Sparse only by its rows of zeros: they are missing, for new samples as well, and the others are measurements."""
    generator = np.random.default_rng(0)
    first = np.where(generator.random((90, 6)) < 0.6, generator.random((90, 6)) * [1, 1, 1, 1, 1, 50], 0.0)
    first[:30] = 0.0
    second = generator.standard_normal((90, 4)) + np.repeat([[0.0], [4.0], [8.0]], 30, axis=0)
    mask = np.column_stack([np.ones(90, dtype=bool), np.arange(90) % 5 > 0])
    mask[~first.any(axis=1), 1] = True
    mask[40, 1] = False
    model = LFC(K, random_state=0).fit(Views([first, second], mask=mask))
    heard = mask & np.column_stack([first.any(axis=1), np.ones(90, dtype=bool)])
    np.testing.assert_array_equal(model.observed_, heard)
    assert model.view_kinds_["view_0"] == "measurements"
    declared = lf_clone(model).fit(Views([first, second], mask=heard))
    np.testing.assert_array_equal(model.consensus_, declared.consensus_)
    np.testing.assert_array_equal(model.predict(Views([first, second], mask=mask)), model.labels_)


def test_the_search_looks_at_samples_of_which_something_is_known(histograms, monkeypatch):
    from latefusion.selection import spaces

    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 80)
    arrays, mask, empty = histograms
    heard = mask & ~empty
    known = heard.any(axis=1)
    model = LFC(K, random_state=0).fit(Views(arrays, mask=mask))
    declared = lf_clone(model).fit(Views([view[known] for view in arrays], mask=heard[known]))
    np.testing.assert_array_equal(model.searched_samples(), np.flatnonzero(known)[declared.searched_samples()])
    assert_same_fit(model, declared, known)


def test_of_samples_of_zeros_nothing_is_known(histograms, with_zeros):
    unknown = with_zeros.n_observed_views_ == 0
    assert np.all(with_zeros.consensus_[unknown] == 0)
    assert len(np.unique(with_zeros.labels_[unknown])) == 1
    assert np.all(with_zeros.confidence_[unknown] == 0)
    assert np.all(with_zeros.confidence_[~unknown] > 0)
    weights = with_zeros.sample_view_weights()
    np.testing.assert_allclose(weights.sum(axis=1), ~unknown)
    assert np.all(with_zeros.view_labels()[~with_zeros.observed_] == -1)


def test_rows_of_zeros_of_new_samples_are_missing_too(histograms, with_zeros):
    arrays, mask, _ = histograms
    views = Views(arrays, mask=mask)
    np.testing.assert_allclose(with_zeros.transform(views), with_zeros.consensus_, atol=1e-8)
    labels, sure = with_zeros.predict(views, return_confidence=True)
    np.testing.assert_array_equal(labels, with_zeros.labels_)
    np.testing.assert_allclose(sure, with_zeros.confidence_, atol=1e-6)
    # Without a mask as well: what is zero says nothing to this model.
    whole = with_zeros.transform([view[:5] for view in arrays])
    said = np.column_stack([view[:5].any(axis=1) for view in arrays])
    masked = Views([view[:5] for view in arrays], mask=said)
    np.testing.assert_array_equal(whole, with_zeros.consensus_map_.rows(masked))


def test_diagnostics_with_samples_of_zeros(histograms, with_zeros):
    assert np.isfinite(with_zeros.criterion()(with_zeros.labels_))
    intervals = with_zeros.weight_intervals(5)
    assert np.all(np.isfinite(intervals.lower))
    verdicts = with_zeros.leave_one_view_out()
    lacking = [int(np.sum(~np.delete(with_zeros.observed_, view, axis=1).any(axis=1))) for view in range(2)]
    assert [one.left_out for one in verdicts] == lacking


@pytest.mark.filterwarnings("ignore:Weak structure")
def test_the_number_of_clusters_with_samples_of_zeros(histograms):
    arrays, mask, _ = histograms
    model = LFC([2, 3, 4], random_state=0).fit(Views(arrays, mask=mask))
    assert len(model.labels_) == len(mask)
    known = model.n_observed_views_ > 0
    declared = lf_clone(model).fit(Views([view[known] for view in arrays], mask=model.observed_[known]))
    assert str(model.number_selection_) == str(declared.number_selection_)
    assert_same_fit(model, declared, known)


def test_rows_of_zeros_stay_where_too_little_would_be_left(histograms):
    arrays, mask, _ = histograms
    few = arrays[1].copy()
    few[np.flatnonzero(few.any(axis=1) & mask[:, 1])[K - 1 :]] = 0.0  # fewer than clusters
    model = LFC(K, random_state=0).fit(Views([arrays[0], few], mask=mask))
    np.testing.assert_array_equal(model.observed_, mask)
    assert np.all(model.confidence_ > 0)
