"""`lf.outcome`: from a model or labels and a table to tests, and what it says."""

import json

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.interpretation.outcomes import survival_table
from latefusion.metrics import benjamini_hochberg

N = 90
IDS = [f"p{row:02d}" for row in range(N)]


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(N, 3, n_views=2, n_features=5, random_state=0)


@pytest.fixture(scope="module")
def frames(data):
    return {name: pd.DataFrame(array, index=IDS) for name, array in data.views.items()}


@pytest.fixture(scope="module")
def model(frames):
    return lf.GlobalAlignmentClustering(3, random_state=0).fit(frames)


@pytest.fixture(scope="module")
def clinic(data):
    """Survival depends on the classes; age and sex do not."""
    rng = np.random.default_rng(1)
    time, censoring = rng.exponential(100.0 * 3.0**data.target), rng.exponential(900.0, N)
    return pd.DataFrame(
        {
            "patient": IDS, "OS.time": np.minimum(time, censoring).round(1), "OS": time <= censoring,
            "age": rng.normal(60, 9, N).round(1), "sex": rng.choice(["f", "m"], N),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(model, clinic):
    return lf.outcome(model, clinic.sample(frac=1.0, random_state=0), n_permutations=199)


def test_what_depends_on_the_clusters_is_found_and_nothing_else(found):
    assert found.tests["column"].tolist() == ["survival", "age", "sex"]
    assert (found.tests["p_adjusted"] < 0.05).tolist() == [True, False, False]
    np.testing.assert_allclose(found.tests["p_adjusted"], benjamini_hochberg(found.tests["p"]))
    assert found.tests["n_samples"].tolist() == [N] * 3


def test_the_order_of_rows_does_not_matter(model, clinic, found):
    other = lf.outcome(model, clinic.set_index("patient"), n_permutations=199)
    assert other.tests["p"].tolist() == found.tests["p"].tolist()


def test_names_of_clusters_do_not_change_the_statistics(model, clinic, found):
    names = pd.Series(np.array(["x", "b", "m"])[model.labels_], index=IDS)
    other = lf.outcome(names, clinic, n_permutations=199)
    np.testing.assert_allclose(other.tests["statistic"], found.tests["statistic"])
    assert set(other.survival.curves) == {"x", "b", "m"}


def test_labels_without_ids_and_arrays_are_in_one_order(model, clinic, found):
    columns = {name: clinic[name].to_numpy() for name in clinic.columns if name != "patient"}
    other = lf.outcome(model.labels_, columns, n_permutations=199)
    assert other.tests["p"].tolist() == found.tests["p"].tolist()
    with_ids = lf.outcome(model.labels_, clinic[::-1], sample_ids=IDS, n_permutations=199)
    assert with_ids.tests["p"].tolist() == found.tests["p"].tolist()


def test_the_fit_does_not_change(frames, clinic):
    fresh = lf.LateFusionClustering(3, random_state=0).fit(frames)
    before = fresh.labels_.copy()
    lf.outcome(fresh, clinic, n_permutations=19, views=frames, baselines=True)
    np.testing.assert_array_equal(fresh.labels_, before)


def test_seeds_repeat_and_p_is_never_zero(model, clinic):
    p = [lf.outcome(model, clinic, n_permutations=49, random_state=seed).tests["p"].tolist() for seed in (1, 1, 2)]
    assert p[0] == p[1] != p[2]
    assert min(p[0]) >= 1 / 50
    given = lf.outcome(model, clinic, n_permutations=49, random_state=np.random.RandomState(3))
    again = lf.outcome(model, clinic, n_permutations=49, random_state=np.random.RandomState(3))
    assert given.tests["p"].tolist() == again.tests["p"].tolist()


def test_single_views_baselines_and_others_are_tested_by_the_same_code(model, frames, clinic, found):
    whole = lf.outcome(model, clinic, views=frames, baselines=True, others={"mine": model.labels_}, n_permutations=199)
    table = whole.comparison
    assert table["method"].tolist() == [
        "GlobalAlignmentClustering", "view view_0", "view view_1", "KMeans on view_0", "KMeans on view_1",
        "concat-kmeans", "concat-spectral", "A-MKKM", "mine",
    ]  # fmt: skip
    assert table["p survival"][0] == table["p survival"][-1] == found.tests["p"][0]
    single = lf.outcome(model.view_labels()[:, 1], clinic, sample_ids=IDS, n_permutations=199)
    row = table[2]
    assert [row["p survival"], row["p age"], row["p sex"]] == single.tests["p"].tolist()
    assert table["significant"][0] == "1 of 3"
    assert "smallest: samples in the smallest cluster. significant: columns with an adjusted p" in table.notes[0]
    assert "not that a clustering is better" in table.notes[1]
    assert "at least one has p < 0.05 in 40 %" in table.notes[1]


def test_others_with_ids_are_brought_into_order(model, clinic, found):
    series = pd.Series(model.labels_, index=IDS).sample(frac=1.0, random_state=0)[:80]
    table = lf.outcome(model, clinic, others={"some": series}, n_permutations=199).comparison
    assert table["samples"].tolist() == [90, 80, 90, 90, 80]


def test_a_view_without_samples_in_the_table_has_no_p(frames, clinic):
    partly = {"view_0": frames["view_0"], "view_1": frames["view_1"][:60]}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(partly)
    table = lf.outcome(model, clinic[60:], n_permutations=19).comparison
    assert table["samples"].tolist() == [30, 30, 0]
    assert np.isnan([table[f"p {name}"][2] for name in ("survival", "age", "sex")]).all()
    assert not np.isnan(table["p age"][:2]).any()


def test_others_with_wrong_ids_are_refused(model, clinic):
    series = pd.Series(model.labels_, index=IDS)
    with pytest.raises(ValueError, match=r"others\['x'\] has repeated sample ids"):
        lf.outcome(model, clinic, others={"x": pd.concat([series, series[:1]])})
    with pytest.raises(
        ValueError, match=r"others\['x'\] has no sample id in common .* ids are like 'P00', .* are 'p00'"
    ):
        lf.outcome(model, clinic, others={"x": series.rename(str.upper)})
    with pytest.raises(TypeError, match="others must be a dict of labels by name, got list"):
        lf.outcome(model, clinic, others=[model.labels_])


def test_a_single_clustering_has_a_comparison_of_one_row(model, clinic):
    table = lf.outcome(model.labels_, clinic, sample_ids=IDS, n_permutations=19).comparison
    assert table["method"].tolist() == ["labels"]
    assert table.notes == ()


def test_text_names_all_parts(found):
    text = repr(found)
    for words in (
        "Survival (OS.time, OS)", "permutation p", "median: median survival time", "which give at least 0.005.",
        "inside, outside: the cluster and all other samples; median survival time, share of a category,",
        "lower, upper: 95 % interval", "Do the clusters differ?", "Does fusion help?", "hazard ratio",
        "Notes on the table:\n- Survival: times from 'OS.time', events from 'OS'.",
    ):  # fmt: skip
        assert words in text
    page = found._repr_html_()
    assert page.count("<table>") == 4
    assert "<h4>Does fusion help?</h4>" in page
    assert page.endswith(
        "<h4>Notes on the table</h4>\n<ul>\n"
        "<li>Survival: times from &#x27;OS.time&#x27;, events from &#x27;OS&#x27;.</li>\n</ul>"
    )


@pytest.mark.parametrize(("n_columns", "note"), [(7, "1 more column in `comparison`."), (8, "2 more columns in")])
def test_hidden_columns_of_the_comparison_are_counted(model, n_columns, note):
    rng = np.random.default_rng(0)
    table = {f"c{one}": rng.normal(size=N) for one in range(n_columns)}
    found = lf.outcome(model, table, n_permutations=9)
    assert note in repr(found)
    shown = {name: table[name] for name in list(table)[:6]}
    assert "more column" not in repr(lf.outcome(model, shown, n_permutations=9))
    assert f"p c{n_columns - 1}" in found.comparison.columns


def test_values_of_users_are_escaped_in_notebooks(model, clinic):
    evil = clinic.rename(columns={"age": "<script>alert(1)</script>"})
    page = lf.outcome(model, evil, n_permutations=19)._repr_html_()
    assert "<script>" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2  # in the tests and in the comparison


def test_records_are_plain_and_frames_have_the_tests(found):
    assert json.loads(json.dumps(found.records()))["tests"][0]["column"] == "survival"
    assert found.to_frame().loc["age", "kind"] == "number"
    assert survival_table(found.survival)["samples"].sum() == N


def test_findings_are_sorted_and_compare_clusters_with_the_rest(found):
    assert (np.diff(found.clusters["p"]) >= 0).all()
    rows = [row for row in found.clusters if row["measure"] == "odds ratio"]
    assert len(rows) == 6
    assert {row["cluster"] for row in rows} == {0, 1, 2}


# Few samples, and mistakes.


def test_partial_overlap_is_noted_and_the_rest_is_tested(model, clinic):
    half = pd.concat([clinic[:50], clinic[:2].assign(patient=["x", "y"])])
    found = lf.outcome(model, half, n_permutations=19)
    assert found.tests["n_samples"].tolist() == [50] * 3
    assert found.notes[0].startswith("Left out of all tests: 40 of 90 samples")
    assert found.notes[1].startswith("Not used: 2 of 52 rows")


def test_clusters_of_one_sample_and_without_events_are_noted(clinic):
    labels = np.repeat([0, 1], 45)
    labels[0], labels[1:9] = 7, 5
    table = clinic.assign(OS=np.where(labels == 5, False, clinic["OS"]))
    found = lf.outcome(labels, table, sample_ids=IDS, n_permutations=99)
    assert any(note.startswith("Cluster 7: one sample only") for note in found.notes)
    without = [str(one) for one in (5, 7) if not table["OS"][labels == one].any()]
    assert f"No event in cluster{'s' * (len(without) > 1)} {', '.join(without)}: hazard ratio 0." in found.notes
    assert found.survival.hazard_ratios[5].ratio == 0
    assert found.tests["n_samples"][0] == N


def test_clusters_that_are_not_in_the_table_are_noted(clinic):
    labels = np.repeat([0, 1, 2], 30)
    found = lf.outcome(labels, clinic[:60], sample_ids=IDS, n_permutations=19)
    assert "Cluster 2: no sample in the outcome table. Left out." in found.notes
    assert found.comparison["clusters"].tolist() == [2]


def test_a_table_with_very_few_samples_is_noted(clinic):
    labels = np.repeat([0, 1], 45)
    two = clinic.iloc[[0, 60]].assign(OS=[True, False])
    found = lf.outcome(labels, two, sample_ids=IDS, n_permutations=19)
    assert any(
        note == "Only 2 of 90 samples are in the outcome table. So few samples cannot show a difference between "
        "clusters. Check the ids."
        for note in found.notes
    )
    assert "All events are in cluster 0: its hazard ratio cannot be estimated (inf)." in found.notes
    assert not any(
        "Only" in note or "cannot be estimated" in note for note in lf.outcome(labels, clinic, sample_ids=IDS).notes
    )


def test_survival_that_is_not_tested_is_a_warning(model, clinic):
    """A note among many is not enough: the main question of the table has no answer."""
    words = clinic.assign(OS=np.where(clinic["OS"], "mort", "vivant"))
    with pytest.warns(UserWarning, match=r"^Survival is not tested: the columns 'OS.time' and 'OS' cannot be used\."):
        found = lf.outcome(model, words, n_permutations=19)
    assert found.survival is None
    assert found.tests["column"].tolist() == ["age", "sex"]
    odd = clinic.assign(OS=clinic["OS"].astype(object).where(np.arange(N) != 7, "lost"))
    assert lf.outcome(model, odd, n_permutations=19).tests["n_samples"].tolist() == [N - 1, N, N]


def test_the_outcome_may_be_a_series(model, clinic):
    ages = clinic.set_index("patient")["age"]
    found = lf.outcome(model, ages[::-1], n_permutations=19)
    assert found.tests["column"].tolist() == ["age"]
    np.testing.assert_array_equal(
        found.tests["p"], lf.outcome(model, clinic, columns=["age"], survival=False, n_permutations=19).tests["p"]
    )
    with pytest.raises(ValueError, match=r"The outcome table has 3 values for 90 samples\. Give one per sample"):
        lf.outcome(model, [1.0, 2.0, 3.0])


def test_all_censored_keeps_the_curves(model, clinic):
    found = lf.outcome(model, clinic.assign(OS=False), n_permutations=19)
    assert np.isnan(found.tests["p"][0])
    assert not np.isnan(found.tests["p_adjusted"][1:]).any()
    assert (found.survival.curves[0].survival == 1).all()
    assert any("All 90 samples are censored" in note for note in found.notes)
    assert "not reached" in repr(found)
    assert "The log-rank test cannot compare the clusters" in repr(found)
    assert "df 0" not in repr(found)


def test_samples_without_a_cluster_are_noted(model, clinic):
    labels = np.where(np.arange(N) < 10, -1, model.labels_)
    found = lf.outcome(labels, clinic, sample_ids=IDS, n_permutations=19)
    assert any(note.startswith("10 of 90 samples have no cluster") for note in found.notes)
    assert found.tests["n_samples"].tolist() == [80] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": 0}, "n_permutations must be an integer >= 1, got 0"),
        ({"n_permutations": 9.5}, "n_permutations must be an integer >= 1, got 9.5"),
        ({"baselines": True}, "baselines=True needs the views that the model was fitted on"),
        ({"others": {"x": [1, 2]}}, r"others\['x'\] has 2 values for 90 samples"),
        ({"sample_ids": ["a"]}, "sample_ids has 1 values for 90 labels"),
        ({"columns": [], "survival": False}, "has no column that can be tested"),
    ],
)
def test_invalid_options_are_refused(model, clinic, options, message):
    with pytest.raises(ValueError, match=message):
        lf.outcome(model, clinic, **options)


def test_labels_cannot_be_compared_with_baselines(model, frames, clinic):
    with pytest.raises(ValueError, match="baselines=True needs a fitted model, not labels"):
        lf.outcome(model.labels_, clinic, sample_ids=IDS, views=frames, baselines=True)


@pytest.mark.parametrize(("labels", "found"), [([0] * N, "only the cluster 0"), ([-1] * N, "no cluster")])
def test_fewer_than_two_clusters_are_refused(labels, found, clinic):
    with pytest.raises(ValueError, match=f"at least two clusters, but the labels have {found}"):
        lf.outcome(labels, clinic, sample_ids=IDS)


def test_other_clusterings_of_fewer_samples_are_compared_on_common_samples(model, clinic):
    """P-values of different samples cannot be compared, so the model has a row of the samples that all others have."""
    labels = model.labels_
    some = np.where(np.arange(len(labels)) < 40, labels, -1)
    found = lf.outcome(labels, clinic, sample_ids=IDS, others={"some": some, "all": labels}, n_permutations=199)
    rows = {row["method"]: row for row in found.comparison}
    assert list(rows) == ["labels", "labels, common samples", "some", "all"]
    assert rows["labels, common samples"] | {"method": "some"} == rows["some"]
    assert rows["all"] | {"method": "labels"} == rows["labels"]
    assert rows["some"]["samples"] < rows["all"]["samples"]
    equal = lf.outcome(labels, clinic, sample_ids=IDS, others={"all": labels}, n_permutations=199)
    assert equal.comparison["method"].tolist() == ["labels", "all"]
