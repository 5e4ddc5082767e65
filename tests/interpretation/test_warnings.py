from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import latefusion as lf
from latefusion.interpretation.gather import ViewData, gather
from latefusion.interpretation.warnings import column_variances, data_warnings, result_warnings, zero_rows

EVERY = np.ones(90, dtype=bool)


def with_array(data, array, place=0):
    views = list(data.views)
    views[place] = replace(views[place], array=array, columns=[f"c{i}" for i in range(array.shape[1])])
    return replace(data, views=views)


def view_of(array, observed=EVERY):
    return ViewData("a", "features", array, [f"c{i}" for i in range(array.shape[1])], observed)


def test_clean_data_have_no_warnings(gathered):
    assert data_warnings(gathered) == result_warnings(gathered) == []


def test_warnings_do_not_need_clusters_of_single_views(aligned, planted):
    views = {"one": planted.views.arrays[0], "copy": planted.views.arrays[0].copy(), "two": planted.views.arrays[1]}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    light = gather(model, views, single_views=False)
    assert all(view.labels is None and view.rows is None for view in light.views)
    assert data_warnings(light) == data_warnings(gather(model, views)) == ["Views one and copy contain the same data."]


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_constant_columns_are_counted_and_named(gathered, form):
    array = np.random.default_rng(0).standard_normal((90, 5))
    array[:, [1, 3]] = 0.1
    (found,) = data_warnings(with_array(gathered, form(array)))
    assert found == "View view_0: 2 columns are constant and not informative (c1, c3)."


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_samples_that_are_all_zeros_are_counted(gathered, form):
    array = np.random.default_rng(0).poisson(1.0, (90, 12)).astype(float)
    array[:20] = 0
    (found,) = data_warnings(with_array(gathered, form(array)))
    assert found.startswith("View view_0: 20 of its 90 samples are zero in all columns")
    assert data_warnings(replace(with_array(gathered, form(array)), views=[view_of(form(array))]))[1:] == []
    assert zero_rows(view_of(form(array), np.arange(90) >= 17), EVERY) == []
    assert zero_rows(view_of(form(array), np.arange(90) >= 14), EVERY)[0].startswith("View a: 6 of its 76 samples")
    (found,) = zero_rows(view_of(form(array)), np.arange(90) >= 20)
    assert found.endswith("the view was treated as missing for them.")
    assert "NaN" in zero_rows(view_of(form(array)), np.arange(90) >= 19)[0]
    array[4:20] = 1e-300
    assert zero_rows(view_of(form(array)), EVERY) == []


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_variances(form):
    array = np.random.default_rng(0).standard_normal((90, 5)) * [1, 1e-8, 1e8, 0, 3]
    found = column_variances(view_of(form(array)))
    np.testing.assert_allclose(found, array.var(axis=0), rtol=1e-6)
    assert found[3] == 0


def test_a_dominant_column_is_named_where_the_model_does_not_scale(gathered):
    array = np.random.default_rng(0).standard_normal((90, 3)) * [1, 100, 1]
    (found,) = data_warnings(with_array(gathered, array))
    assert "column c1 has 100% of the variance" in found


def test_missing_views_and_small_clusters(incomplete):
    labels = np.where(np.arange(90) < 2, 0, 1 + np.arange(90) % 2)
    missing, small = data_warnings(replace(incomplete, labels=labels))
    assert missing == "9 of 90 samples are not in every view. Missing: 9 in view_0."
    assert small == "Small clusters, possibly outliers: cluster 0 (2 samples)."


@pytest.mark.parametrize(("size", "is_small"), [(1, True), (2, True), (3, False)])
def test_a_cluster_is_small_below_a_tenth_of_the_average(gathered, size, is_small):
    labels = np.where(np.arange(90) < size, 0, 1 + np.arange(90) % 2)
    assert bool(data_warnings(replace(gathered, labels=labels))) == is_small


def test_a_single_sample_is_a_small_cluster_however_many_there_are(gathered):
    data = replace(gathered, labels=np.minimum(np.arange(90) // 2 + 1, 45) * (np.arange(90) > 0))
    data = replace(data, clusters=[str(i) for i in range(46)])
    assert data_warnings(data) == ["Small clusters, possibly outliers: cluster 0 (1 sample), cluster 1 (1 sample)."]


def test_a_doubtful_result(gathered):
    model = SimpleNamespace(
        number_selection_=SimpleNamespace(warning="Weak structure: few."), converged_=False, n_iter_=7, view_kinds_={}
    )
    found = result_warnings(replace(gathered, model=model, confidence=np.full(90, 0.1)))
    assert [one.split(":")[0].split(" (")[0] for one in found] == [
        "Weak structure",
        "The method did not converge in 7 iterations. Increase max_iter.",
        "Most samples are between clusters",
    ]


def test_other_clusterings_with_an_equal_score(conflict):
    model = lf.LateFusionClustering(3, random_state=0).fit(conflict[0])
    (found,) = result_warnings(gather(model, conflict[0], single_views=False))
    share = model.alternatives_[0].share
    assert found.startswith(f"1 other clustering scores as high within the standard error; it moves {share:.0%} of the")
    assert found.endswith("The section Model selection lists them.")


def test_a_single_view(gathered):
    assert any("only one view" in one for one in data_warnings(replace(gathered, views=gathered.views[:1])))
