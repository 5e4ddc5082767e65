"""`add_view`: the same as a fit with all views, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.selection import candidates, search, spaces
from tests.hinted import two_clusterings

ALIGNMENTS = (lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering)
CLASSES = (*ALIGNMENTS, lf.LateFusionClustering)
LINEAR = lf.KernelSimilarity("linear", method="factor")
NYSTROM = lf.KernelSimilarity(method="factor", n_landmarks=40)


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(160, 4, random_state=1)


@pytest.fixture(scope="module")
def tables(data):
    ids = [f"p{row:03d}" for row in range(160)]
    return {name: pd.DataFrame(array, index=ids) for name, array in zip("abc", data.views.arrays, strict=True)}


def leave_one_candidate(monkeypatch, similarity="both", weighting="equal"):
    """Leave one candidate to the search of late fusion, so that a fit with all views makes the same choices."""
    monkeypatch.setattr(search, "SIMILARITY_SETS", {similarity: candidates.SIMILARITY_SETS[similarity]})
    monkeypatch.setattr(search, "WEIGHTINGS", (weighting,))
    monkeypatch.setattr(search, "REGULARIZATIONS", (2.0,))
    monkeypatch.setattr(spaces, "COMPONENTS_PER_CLUSTER", (1.0,))


def two_ways(cls, views, name="c", **options):
    """A model of all views but one, with this one added, and a model of all of them."""
    others = {key: view for key, view in views.items() if key != name}
    similarity = options.get("similarity")
    per_view = isinstance(similarity, dict)
    first = {key: similarity[key] for key in others} if per_view else similarity
    given = options if similarity is None else options | {"similarity": first}
    model = cls(4, random_state=0, **given).fit(others)
    added = model.add_view(views[name], name, similarity=similarity[name] if per_view else None)
    return added, cls(4, random_state=0, **options).fit({**others, name: views[name]})


def assert_same(added, whole, views):
    np.testing.assert_array_equal(added.labels_, whole.labels_)
    np.testing.assert_allclose(added.consensus_, whole.consensus_, atol=1e-10)
    np.testing.assert_allclose(added.view_weights_, whole.view_weights_, atol=1e-10)
    assert added.view_names_.tolist() == whole.view_names_.tolist()
    assert added.input_schema_.fingerprint == whole.input_schema_.fingerprint
    np.testing.assert_array_equal(added.predict(views), added.labels_)
    np.testing.assert_allclose(added.transform(views), added.consensus_, atol=1e-8)
    np.testing.assert_allclose(added.novelty_, whole.novelty_, atol=1e-10)


@pytest.mark.parametrize("cls", ALIGNMENTS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": "impute"},
        {"kernel": "linear"},
        {"similarity": "graph"},
        {"reference": "graph"},
        {"init": "identity", "regularization": 3.0},
        {"view_weights": {"a": 2.0, "b": 1.0}},
        {"similarity": {"a": "kernel", "b": LINEAR, "c": "graph"}},
        {"similarity": {"a": LINEAR, "b": LINEAR, "c": "kernel"}},
        {"similarity": {"a": LINEAR, "b": "graph", "c": NYSTROM}},
        {"similarity": {"a": "graph", "b": "graph", "c": LINEAR}},
    ],
    ids=str,
)
def test_alignments_are_those_of_a_fit_with_all_views(cls, options, tables):
    added, whole = two_ways(cls, tables, **options)
    assert_same(added, whole, tables)


@pytest.mark.parametrize("weighting", candidates.WEIGHTINGS)
@pytest.mark.parametrize("similarity", candidates.SIMILARITY_SETS)
@pytest.mark.parametrize("options", [{}, {"assign_labels": "average"}, {"view_weights": {"a": 2.0}}], ids=str)
def test_late_fusion_with_the_same_choices_is_that_of_a_fit(similarity, weighting, options, tables, monkeypatch):
    leave_one_candidate(monkeypatch, similarity, weighting)
    added, whole = two_ways(lf.LateFusionClustering, tables, **options)
    assert_same(added, whole, tables)


@pytest.mark.parametrize("weighting", candidates.WEIGHTINGS)
def test_late_fusion_that_searches_among_some_samples(weighting, tables, monkeypatch):
    leave_one_candidate(monkeypatch, "graph", weighting)
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 100)
    added, whole = two_ways(lf.LateFusionClustering, tables)
    assert len(added.searched_samples()) == 100
    np.testing.assert_array_equal(added.searched_samples(), whole.searched_samples())
    assert_same(added, whole, tables)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("missing", ["zero", "impute"])
def test_training_samples_with_missing_views(cls, missing, tables, monkeypatch):
    leave_one_candidate(monkeypatch)
    holes = {name: table.copy() for name, table in tables.items()}
    holes["a"].iloc[:20] = np.nan
    holes["b"].iloc[20:50] = np.nan
    added, whole = two_ways(cls, holes, missing=missing)
    assert_same(added, whole, holes)
    np.testing.assert_array_equal(added.observed_, whole.observed_)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("missing", ["zero", "impute"])
def test_a_new_view_may_be_missing_for_some_samples(cls, missing, tables, monkeypatch):
    """As absent rows, as rows of missing values, and as a mask."""
    leave_one_candidate(monkeypatch)
    present = np.arange(160) % 4 > 0
    holes = tables | {"c": tables["c"].copy()}
    holes["c"].iloc[~present] = np.nan
    added, whole = two_ways(cls, holes, missing=missing)
    assert_same(added, whole, holes)
    np.testing.assert_array_equal(added.observed_[:, 2], present)
    model = cls(4, random_state=0, missing=missing).fit({name: tables[name] for name in "ab"})
    absent = tables["c"][present].sample(frac=1.0, random_state=0)
    masked = lf.Views({"c": tables["c"]}, mask=present[:, None])
    for given in (absent, masked):
        np.testing.assert_array_equal(model.add_view(given, "c").labels_, added.labels_)


@pytest.mark.parametrize("cls", CLASSES)
def test_eigenvectors_of_the_old_views_are_kept(cls, tables):
    """The same arrays, not equal ones."""
    model = cls(4, random_state=0, similarity="kernel").fit({name: tables[name] for name in "ab"})
    added = model.add_view(tables["c"], "c")
    for view in range(2):
        assert np.shares_memory(model.partitions_[view], added.partitions_[view])


@pytest.mark.parametrize("cls", [lf.GlobalAlignmentClustering, lf.LateFusionClustering])
@pytest.mark.parametrize("name", ["labels", "a"])
def test_views_of_labels_and_tables(cls, name, data, tables, monkeypatch):
    """Whichever of them is new."""
    leave_one_candidate(monkeypatch)
    generator, index = np.random.default_rng(0), tables["a"].index
    noisy = np.where(generator.random(160) < 0.3, generator.integers(0, 7, 160), data.target)
    labels = pd.Series([f"cluster {one}" for one in noisy], index=index)
    views = {"a": tables["a"].assign(kind=[f"kind {one % 3}" for one in data.target]), "labels": labels}
    views["b"] = tables["b"]
    added, whole = two_ways(cls, views, name)
    np.testing.assert_array_equal(added.labels_, whole.labels_)
    np.testing.assert_array_equal(added.predict(views), added.labels_)
    assert added.column_kinds_ == whole.column_kinds_
    assert added.view_inputs_ == whole.view_inputs_


@pytest.mark.parametrize("cls", CLASSES)
def test_kernels(cls, tables, monkeypatch):
    leave_one_candidate(monkeypatch)
    kernels = {
        name: pd.DataFrame(lf.kernels.gaussian_kernel(table.to_numpy()), index=table.index, columns=table.index)
        for name, table in tables.items()
    }
    order = np.random.default_rng(0).permutation(160)
    options = {"similarity": "precomputed", "random_state": 0}
    model = cls(4, **options).fit({name: kernels[name] for name in "ab"})
    added = model.add_view(kernels["c"].iloc[order, order], "c")
    np.testing.assert_array_equal(added.predict(kernels), added.labels_)
    np.testing.assert_array_equal(added.labels_, cls(4, **options).fit(kernels).labels_)


@pytest.mark.parametrize("cls", CLASSES)
def test_rows_are_matched_by_sample_id(cls, tables):
    model = cls(4, random_state=0).fit({name: tables[name] for name in "ab"})
    first = model.add_view(tables["c"], "c")
    shuffled = tables["c"].sample(frac=1, random_state=0)
    second = model.add_view({"c": shuffled})
    views = lf.Views({"c": shuffled.to_numpy()}, sample_ids=shuffled.index)
    third = model.add_view(views)
    fourth = model.add_view(tables["c"].to_numpy(), "c")
    for other in (second, third, fourth):
        np.testing.assert_array_equal(other.labels_, first.labels_)
        np.testing.assert_allclose(other.consensus_, first.consensus_)
        np.testing.assert_array_equal(other.sample_ids_, model.sample_ids_)


@pytest.mark.parametrize("cls", CLASSES)
def test_extended_models_are_saved_updated_and_extended(cls, tables, tmp_path):
    model = cls(4, random_state=0).fit({"a": tables["a"]})
    added = model.add_view(tables["b"], "b").add_view(tables["c"], "c")
    assert model.view_names_.tolist() == ["a"]
    if cls is not lf.LateFusionClustering:
        np.testing.assert_array_equal(added.labels_, cls(4, random_state=0).fit(tables).labels_)
    lf.save(added, tmp_path / "more.model")
    again = lf.load(tmp_path / "more.model")
    np.testing.assert_array_equal(again.predict(tables), added.labels_)
    assert again.update(tables).match.agreement > 0.8
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(added)).add_view(tables["c"] ** 2, "d").n_views_, 4)
    with pytest.raises(ValueError, match=r"add_view needs the training views.*loaded from a file.*Fit a model on all"):
        again.add_view(tables["c"], "d")


def test_choices_are_kept_and_diagnostics_work(tables):
    model = lf.LateFusionClustering("auto", random_state=0).fit({name: tables[name] for name in "ab"})
    added = model.add_view(tables["c"], "c")
    assert added.n_clusters == "auto"
    for name in ("n_clusters_", "similarity_", "weighting_", "regularization_", "selection_", "number_selection_"):
        assert getattr(added, name) == getattr(model, name)
    assert added.alternatives_ == ()
    assert len(added.leave_one_view_out()) == 3
    assert added.n_clusters_path([2]).numbers == (2, added.n_clusters_)
    assert added.criterion()(added.labels_) > 0
    assert added.memberships_.shape == (160, added.n_clusters_)
    assert added.sample_view_weights().shape == (160, 3)


def test_an_unrelated_view_has_no_weight(tables):
    model = lf.LateFusionClustering(4, random_state=0).fit({name: tables[name] for name in "ab"})
    noise = np.random.default_rng(0).standard_normal((160, 5))
    with pytest.warns(UserWarning, match="'noise' is statistically unrelated"):
        added = model.add_view(noise, "noise")
    assert added.unrelated_views_ == ["noise"]
    np.testing.assert_allclose(added.view_weights_[2], 0, atol=1e-12)


def test_without_ids_and_names(data):
    one, two, three = data.views.arrays
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(one)
    added = model.add_view(two).add_view(three)
    assert added.view_names_.tolist() == ["view_0", "view_1", "view_2"]
    np.testing.assert_array_equal(added.predict([one, two, three]), added.labels_)
    np.testing.assert_array_equal(
        added.labels_, lf.GlobalAlignmentClustering(4, random_state=0).fit([one, two, three]).labels_
    )


def test_parameters_for_every_view_are_extended(data, tables):
    one, two, three = data.views.arrays
    model = lf.GlobalAlignmentClustering(4, similarity=["kernel", "graph"], view_weights=[1.0, 2.0]).fit([one, two])
    added = model.add_view(three, similarity="graph")
    assert added.similarity == ["kernel", "graph", "graph"]
    assert added.view_weights == [1.0, 2.0, 1.0]
    assert model.add_view(three).similarity == ["kernel", "graph", "auto"]
    named = lf.GlobalAlignmentClustering(4).fit(tables["a"]).add_view(two, "b", similarity=LINEAR)
    assert named.similarity == {"view_0": "auto", "b": LINEAR}


def refusal(tables, match, X=None, name="c", model=None):
    model = model or lf.GlobalAlignmentClustering(4, random_state=0).fit({one: tables[one] for one in "ab"})
    with pytest.raises(ValueError, match=match):
        model.add_view(tables["c"] if X is None else X, name)


def test_refusals(data, tables):
    c = tables["c"]
    for nothing in ("c.csv", 3.0):
        refusal(tables, r"must be an array, a data frame, labels or `Views` with one view; got (str|float)", nothing)
    refusal(tables, r"may contain the 160 training samples only. It lacks 160 of them \('p000'", c.iloc[:0])
    more = pd.concat([c, c.iloc[:1].rename(index={"p000": "new"})])
    refusal(tables, r"It has 1 others \('new'\)", more)
    refusal(tables, r"'p000' in the model is 'P000' in view 'c'", c.rename(index=str.upper))
    refusal(tables, r"contains sample ids more than once", pd.concat([c, c.iloc[:1]]))
    refusal(tables, r"has 10 rows, but the model was fitted on 160 samples \('p000'", c.to_numpy()[:10])
    refusal(tables, r"The model has a view 'a'", name="a")
    refusal(tables, r"X contains the views \['x', 'y'\]", {"x": c, "y": c})
    refusal(tables, r"View 'c' is missing for all 160 samples", c * np.nan)
    refusal(tables, r"View 'c' is constant", c * 0)
    columns = lf.GlobalAlignmentClustering(4, views={"x": [0, 1], "y": [2, 3]}).fit(c)
    refusal(tables, r"groups of columns of one table", model=columns)
    with pytest.raises(ValueError, match="not fitted"):
        lf.GlobalAlignmentClustering().add_view(c)
    array = data.views.arrays[0].copy()
    changed = lf.GlobalAlignmentClustering(4, random_state=0).fit([array, data.views.arrays[1]])
    array[0] += 1
    refusal(tables, r"training views were changed in place", data.views.arrays[2], model=changed)


@pytest.mark.parametrize("cls", [lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering])
def test_hints_of_the_fit_are_used_again(cls):
    problem = two_clusterings()
    first, *others, last = problem.views.arrays
    model = cls(3, random_state=0).fit([first, *others], problem.hints(60))
    whole = cls(3, random_state=0).fit([first, *others, last], problem.hints(60))
    more = model.add_view(last)
    assert whole.hints_.followed
    np.testing.assert_array_equal(more.labels_, whole.labels_)
    np.testing.assert_array_equal(more.predict([first, *others, last]), more.labels_)
    np.testing.assert_array_equal(more.hints_.kept, whole.hints_.kept)
