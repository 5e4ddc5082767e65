"""Profiles of clusters: what the table contains, for every kind of model and input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

import latefusion as lf
from latefusion.interpretation import Features, Profiles, features_of


@pytest.fixture(scope="module")
def marked():
    """Three clusters in two views; feature 3 of view "a" is large in cluster 0 of the design."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    centers = rng.normal(0, 2, (3, 4))
    first = np.column_stack([centers[group] + rng.standard_normal((90, 4)), 9.0 * (group == 0) + rng.normal(0, 1, 90)])
    second = sp.csr_array(rng.poisson(np.where(group[:, None] == np.arange(3).repeat(2), 5.0, 0.3)).astype(float))
    return {"a": first, "b": second}, group


@pytest.fixture(scope="module")
def model(marked):
    return lf.GlobalAlignmentClustering(3, random_state=0).fit(marked[0])


@pytest.fixture(scope="module")
def found(model, marked):
    return lf.profiles(model, marked[0])


def test_every_feature_is_compared_for_every_cluster(found, model, marked):
    assert len(found) == 3 * (5 + 6)
    assert set(found["cluster"].tolist()) == set(model.labels_.tolist())
    assert set(found["kind"].tolist()) == {"number"}
    views, _ = marked
    for row in found:
        column = int(row["feature"].removeprefix("column "))
        values = views["a"][:, column] if row["view"] == "a" else views["b"].toarray()[:, column]
        inside, outside = values[model.labels_ == row["cluster"]], values[model.labels_ != row["cluster"]]
        test = stats.mannwhitneyu(inside, outside, method="asymptotic")
        assert row["p"] == pytest.approx(test.pvalue, rel=1e-9)
        assert row["auc"] == pytest.approx(test.statistic / len(inside) / len(outside))
        assert (row["inside"], row["outside"]) == (pytest.approx(inside.mean()), pytest.approx(outside.mean()))


def test_p_values_are_adjusted_for_all_rows(found):
    np.testing.assert_allclose(found["p_adjusted"], stats.false_discovery_control(found["p"]), rtol=1e-12)


def test_rows_are_sorted_by_cluster_and_effect(found):
    keys = [(row["cluster"], -abs(row["effect"])) for row in found]
    assert keys == sorted(keys)


def test_the_planted_feature_is_first(found, model, marked):
    cluster = model.labels_[0]
    assert marked[1][0] == 0
    first = found.of(cluster)[0]
    assert (first["view"], first["feature"]) == ("a", "column 4")
    assert first["effect"] > 4
    assert first["auc"] == 1


def test_effects_are_those_of_features_of(found, model, marked):
    for cluster in np.unique(model.labels_):
        for trait in features_of(model, marked[0], cluster):
            rows = found.of(cluster)
            (row,) = rows[(rows["view"] == trait.view) & (rows["feature"] == trait.feature)]
            assert (row["effect"], row["inside"], row["outside"]) == (trait.effect, trait.inside, trait.outside)


def test_top_and_of_select_rows(found):
    top = found.top(2)
    assert isinstance(top, Profiles)
    assert len(top) == 6
    for cluster in (0, 1, 2):
        assert top.of(cluster)["feature"].tolist() == found.of(cluster)["feature"][:2].tolist()
    assert len(found.top(1000)) == len(found)
    with pytest.raises(ValueError, match=r"Unknown cluster 7\. The clusters are 0, 1, 2\."):
        found.of(7)
    with pytest.raises(ValueError, match=r"must be at least 1, got 0\."):
        found.top(0)


def test_the_printed_table_has_all_clusters_and_the_note(found):
    text = str(found)
    rows = text.split("\n\n")[0].splitlines()[2:]
    assert [row.split()[0] for row in rows[:-1]] == ["0"] * 6 + ["1"] * 6 + ["2"] * 6
    assert rows[-1] == "… and 15 more rows"
    assert "p-values are too small, because the clusters were found with the same features" in text
    assert "honest=True" in text
    assert "column 4" in found._repr_html_()
    assert "honest=True" in found._repr_html_()
    assert found.top(1).to_text().count("\n") == 4


def test_a_frame_has_all_columns(found):
    frame = found.to_frame()
    assert list(frame.columns) == [
        "cluster", "view", "feature", "kind", "effect", "auc", "p", "p_adjusted", "inside", "outside", "shown_inside",
        "shown_outside",
    ]  # fmt: skip
    assert frame.shape[0] == len(found)


def test_tiny_p_values_are_printed_as_a_bound():
    group = np.repeat([0, 1], 3000)
    view = np.random.default_rng(0).normal(group[:, None] * 9, 1, (6000, 2))
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit([view, view + 0.1])
    assert "< 1e-300" in lf.profiles(model, [view, view + 0.1]).to_text()


def test_order_of_samples_does_not_matter(found, model, marked):
    views, _ = marked
    order = np.random.default_rng(1).permutation(90)
    shuffled = lf.profiles(model, {name: view[order] for name, view in views.items()})
    for name in ("effect", "auc", "p", "inside"):
        np.testing.assert_allclose(shuffled[name], found[name], rtol=1e-9, atol=1e-12)


def test_new_samples_are_labelled(model, marked):
    views, _ = marked
    some = {name: view[::2] for name, view in views.items()}
    found = lf.profiles(model, some)
    labels = model.predict(some)
    row = found[0]
    values = some[row["view"]][:, [int(row["feature"][7:])]]
    values = (values.toarray() if sp.issparse(values) else values).ravel()
    assert row["inside"] == pytest.approx(values[labels == row["cluster"]].mean())


def test_a_loaded_model_gives_the_same_table(found, model, marked, tmp_path):
    lf.save(model, tmp_path / "m.model")
    again = lf.profiles(lf.load(tmp_path / "m.model"), marked[0])
    for name, column in found.columns.items():
        np.testing.assert_array_equal(again[name], column)


@pytest.mark.parametrize(
    "estimator",
    [
        lf.LateFusionClustering(3, random_state=0),
        lf.LocalAlignmentClustering(3, random_state=0),
        lf.baselines.METHODS["concat-kmeans"](3, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_estimator_finds_the_planted_feature(estimator, marked):
    views, _ = marked
    model = estimator.fit(views)
    first = lf.profiles(model, views).of(model.labels_[0])[0]
    assert (first["view"], first["feature"]) == ("a", "column 4")


def test_clusterings_are_described_by_their_labels(agreed, labelings):
    found = lf.profiles(agreed, labelings)
    assert set(found["kind"].tolist()) == {"label"}
    known = labelings["partial"] >= 0
    for row in found[found["view"] == "partial"]:
        mine = labelings["partial"][known & (agreed.labels_ == row["cluster"])]
        assert row["inside"] == pytest.approx(np.mean(mine == int(row["feature"])))


def test_comparison_methods_describe_their_training_samples_only(marked):
    views, _ = marked
    ids = [f"s{row}" for row in range(90)]
    frames = {"a": pd.DataFrame(views["a"], index=ids), "b": pd.DataFrame(views["b"].toarray(), index=ids)}
    model = lf.baselines.METHODS["concat-kmeans"](3, random_state=0).fit(frames)
    whole = lf.profiles(model, frames)
    assert len(whole) == 33
    half = lf.profiles(model, {name: frame[::2] for name, frame in frames.items()})
    labels = model.labels_[::2]
    row = half[half["view"] == "a"][0]
    values = frames["a"][int(row["feature"])][::2]
    assert row["inside"] == pytest.approx(values[labels == row["cluster"]].mean())
    with pytest.raises(ValueError, match=r"ConcatKMeans cannot label new samples, and X is not what it was fitted on"):
        lf.profiles(model, {name: 2 * frame.set_axis(range(90, 180)) for name, frame in frames.items()})


def test_tables_are_shown_in_the_units_of_the_user():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    table = pd.DataFrame(
        {
            "region": np.where(rng.random(80) < 0.9, np.where(group, "north", "south"), "east"),
            "spend": [f"${value:,.0f}" for value in np.where(group, 2000, 500) + rng.normal(0, 50, 80)],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(group * 365 + rng.integers(0, 30, 80), "D"),
        }
    )
    table.loc[3, "spend"] = None
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"customers": table})
    found = {row["feature"]: row for row in lf.profiles(model, {"customers": table}).of(model.labels_[-1])}
    amounts = table["spend"].dropna().str.strip("$").str.replace(",", "").astype(float)
    inside, outside = amounts[group[amounts.index] == 1], amounts[group[amounts.index] == 0]
    spend = found["spend"]
    assert (spend["kind"], spend["inside"]) == ("number", inside.median())
    assert spend["shown_inside"] == f"${inside.median():,.0f}"
    assert spend["shown_outside"] == f"${outside.median():,.0f}"
    assert spend["p"] == pytest.approx(stats.mannwhitneyu(inside, outside, method="asymptotic").pvalue, rel=1e-9)
    assert found["since"]["kind"] == "date"
    assert found["since"]["shown_inside"].startswith("2021-01")
    north = found["region: north"]
    assert north["shown_outside"] == "0%"
    assert north["inside"] == np.mean(table["region"][group == 1] == "north")


def test_missing_values_and_views_are_left_out(marked):
    views, _ = marked
    dense = {"a": views["a"].copy(), "b": views["b"].toarray()}
    gaps = np.random.default_rng(0).random(90) < 0.2
    dense["a"][gaps, 1] = np.nan
    dense["b"][:9] = np.nan
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(dense)
    found = lf.profiles(model, dense)
    for view, column, known in (("a", 1, ~gaps), ("b", 2, np.arange(90) >= 9)):
        rows = found[(found["view"] == view) & (found["feature"] == f"column {column}")]
        for row in rows:
            values, mine = dense[view][known, column], model.labels_[known] == row["cluster"]
            assert row["inside"] == pytest.approx(values[mine].mean())
            expected = stats.mannwhitneyu(values[mine], values[~mine], method="asymptotic").pvalue
            assert row["p"] == pytest.approx(expected, rel=1e-9)


def test_a_view_that_is_missing_for_a_cluster_is_left_out_with_a_note(marked, model):
    views, group = marked
    mask = np.column_stack([np.ones(90, dtype=bool), group != 0])
    found = lf.profiles(model, lf.Views(views, mask=mask))
    cluster = model.labels_[0]
    assert set(found.of(cluster)["view"].tolist()) == {"a"}
    assert "6 comparisons of a cluster and a feature are left out, because no sample inside" in str(found)
    assert "has a value (column 0, column 1, column 2" in str(found)
    absent = lf.profiles(model, {"a": views["a"]})
    assert set(absent["view"].tolist()) == {"a"}
    assert "View 'b' is missing for all samples." in absent.notes


def test_kernels_have_no_features_but_may_be_described_by_others(marked):
    views, _ = marked
    linear = views["a"] @ views["a"].T
    model = lf.GlobalAlignmentClustering(3, similarity=["precomputed", "auto"], random_state=0)
    mixed = {"kernel": linear, "b": views["b"]}
    found = lf.profiles(model.fit(mixed), mixed)
    assert set(found["view"].tolist()) == {"b"}
    assert "View 'kernel' has no features and is left out." in found.notes
    described = lf.profiles(model, mixed, features={"kernel": Features(views["a"], list("vwxyz"))})
    assert {"v", "z"} < set(described["feature"].tolist())
    with pytest.raises(ValueError, match=r"honest=True clusters one half .* view 'kernel' is a matrix of similarities"):
        lf.profiles(model, mixed, honest=True)
    alone = lf.GlobalAlignmentClustering(3, similarity="precomputed", random_state=0).fit([linear])
    with pytest.raises(ValueError, match=r"No view has features .* features={'view_0': table}\."):
        lf.profiles(alone, [linear])


def test_one_cluster_cannot_be_compared(model, marked):
    alone = {name: view[model.labels_ == 0] for name, view in marked[0].items()}
    with pytest.raises(ValueError, match=r"all samples are in one cluster\. Give samples of several clusters\."):
        lf.profiles(model, alone)


def test_features_of_cells_replace_components():
    """Genes describe clusters of principal components; samples are matched by id."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 25)
    ids = [f"cell{row}" for row in range(50)]
    components = pd.DataFrame(rng.normal(group[:, None] * 5, 1, (50, 3)), index=ids)
    genes = pd.DataFrame({"g1": rng.poisson(1 + 5 * group), "g2": rng.poisson(2, 50)}, index=ids)[::-1]
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"rna": components})
    found = lf.profiles(model, {"rna": components}, features={"rna": genes})
    assert found.top(1)["feature"].tolist() == ["g1", "g1"]
    assert found.of(model.labels_[-1])[0]["inside"] == pytest.approx(genes["g1"][:25].mean())


def test_features_of_an_unknown_view_are_refused(model, marked):
    genes = pd.DataFrame(np.ones((90, 2)), columns=["g1", "g2"])
    with pytest.raises(ValueError, match=r"features has a table for 'rna', which is not a view .* views are a, b\."):
        lf.profiles(model, marked[0], features={"rna": genes})
