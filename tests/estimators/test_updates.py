"""`update`: the same data change nothing, ids stay, and what moved, appeared and vanished is what was planted."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from tests.hinted import two_clusterings
from tests.properties import examples

CLASSES = (lf.LateFusionClustering, lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering)
every_class = pytest.mark.parametrize("cls", CLASSES)


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(200, 4, random_state=0)


@pytest.fixture(scope="module")
def tables(data):
    ids = [f"p{row:03d}" for row in range(200)]
    return {name: pd.DataFrame(array, index=ids) for name, array in data.views.items()}


def take(tables, rows):
    return {name: table[rows] for name, table in tables.items()}


@every_class
@pytest.mark.parametrize("labels", ["kmeans", "average", "mixture", "rotation"])
def test_the_same_data_move_nothing(cls, labels, tables):
    model = cls(4, assign_labels=labels, random_state=0).fit(tables)
    update = model.update(tables)
    np.testing.assert_array_equal(update.labels, model.labels_)
    np.testing.assert_array_equal(update.model.consensus_, model.consensus_)
    assert (len(update.moved), len(update.new), len(update.gone), len(update.moves)) == (0, 0, 0, 0)
    assert update.match.notes == ["All clusters are kept."]
    assert update.known.all()
    assert set(update.change) == {"kept"}


@examples(6)
@given(seed=st.integers(0, 5), cls=st.sampled_from(CLASSES))
def test_another_seed_gives_the_same_ids(tables, seed, cls):
    """The new fit numbers the clusters in another order."""
    model = cls(4, random_state=0).fit(tables)
    again = cls(4, random_state=0).fit(tables).set_params(random_state=seed)
    update = again.update(tables)
    assert len(update.moved) <= 2
    assert lf.match(model, update.model).names == {one: one for one in range(4)}


@every_class
def test_ids_are_in_everything_that_names_clusters(cls, data, tables):
    """A cluster vanishes, then one appears: labels, predictions, memberships and files have the same ids."""
    model = cls(4, random_state=0).fit(tables)
    lost = int(model.labels_[np.flatnonzero(data.target == 1)[0]])
    fewer = take(tables, data.target != 1)
    first = model.set_params(n_clusters=3).update(fewer)
    assert first.match.vanished == [lost]
    assert len(first.moved) <= 2
    assert len(first.gone) == np.sum(data.target == 1)
    assert first.model.cluster_ids_.tolist() == [one for one in range(4) if one != lost]

    second = first.model.set_params(n_clusters=4).update(tables)
    assert second.match.appeared == [4]  # the id of the cluster that vanished is not used again
    named = second.model
    assert set(named.labels_) == {*first.model.cluster_ids_, 4}
    np.testing.assert_array_equal(named.predict(tables), named.labels_)
    memberships = named.memberships_
    np.testing.assert_array_equal(named.cluster_ids_[memberships.argmax(axis=1)], named.labels_)
    np.testing.assert_allclose(named.predict_proba(tables), memberships, atol=1e-12)
    frame = lf.labels_frame(named, tables, memberships=True)
    assert [one for one in frame.columns if "_" in one] == [f"membership_{one}" for one in named.cluster_ids_]
    own = [frame.loc[row, f"membership_{label}"] for row, label in frame["label"].items()]
    np.testing.assert_array_equal(own, frame["membership"])
    np.testing.assert_allclose(named.sample_view_weights().sum(axis=1), 1)
    assert set(named.view_labels().ravel()) <= set(range(4))
    assert named.summary().clusters["cluster"].tolist() == named.cluster_ids_.tolist()
    assert set(lf.profiles(named, tables)["cluster"]) == set(named.labels_)
    for one in getattr(named, "alternatives_", ()):
        assert set(one.labels) <= set(named.cluster_ids_)


@every_class
def test_updated_models_are_saved_and_updated_again(cls, data, tables, tmp_path):
    model = cls(3, random_state=0).fit(take(tables, data.target != 2)).set_params(n_clusters=4)
    update = model.update(tables)
    lf.save(update.model, tmp_path / "new.model")
    again = lf.load(tmp_path / "new.model")
    np.testing.assert_array_equal(again.predict(tables), update.labels)
    assert again.cluster_ids_.tolist() == update.model.cluster_ids_.tolist()
    third = again.update(tables)
    np.testing.assert_array_equal(third.labels, update.labels)
    assert again.consensus_map_.rule.n_ids == third.model.consensus_map_.rule.n_ids == 4


def test_what_an_update_says(data, tables):
    """Samples of three clusters; then some go, others come, among them a new cluster."""
    rows = np.arange(200)
    old, now = (rows < 150) & (data.target != 3), rows >= 20
    model = lf.LateFusionClustering("auto", random_state=0).fit(take(tables, old))
    update = model.update({name: table.iloc[::-1] for name, table in take(tables, now).items()})
    ids = np.array(tables["view_0"].index)
    assert {*update.gone} == {*ids[old & ~now]}
    assert {*update.new} == {*ids[now & ~old]}
    assert {*update.sample_ids[update.known]} == {*ids[old & now]}
    assert update.match.appeared == [3]
    by_id = pd.Series(model.labels_, index=model.sample_ids_)
    np.testing.assert_array_equal(update.before[update.known], by_id[update.sample_ids[update.known]])
    other = by_id[update.sample_ids[update.known]] != update.labels[update.known]
    assert update.moved.tolist() == update.sample_ids[update.known][other].tolist()
    assert sum(one["samples"] for one in update.moves) == len(update.moved)
    np.testing.assert_array_equal(update.before[~update.known], model.predict(take(tables, now & ~old))[::-1])
    assert update.drift.p_novelty < 0.01
    frame = update.to_frame()
    assert frame.columns.tolist() == ["id", "label", "before", "change", "novelty"]
    assert frame["change"].value_counts()["new"] == len(update.new)
    text = repr(update)
    assert text.startswith("180 samples: 99 known, 81 new, 14 no longer there. 4 clusters, 3 before.")
    for line in ("Appeared: 3", "Moved: ", "Drift: ", "Sizes of clusters: "):
        assert line in text
    assert update.notes[0] in update._repr_html_().replace("&#x27;", "'")
    assert update.clusters["before"].sum() == old.sum()
    assert update.clusters["after"].sum() == now.sum()


def test_the_old_model_is_not_changed(tables):
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(take(tables, slice(0, 150)))
    before, labels = vars(model).copy(), model.labels_.copy()
    model.update(tables)
    assert {name: vars(model)[name] for name in before} == before
    np.testing.assert_array_equal(model.labels_, labels)


def test_samples_without_ids(data):
    arrays = data.views.arrays
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(arrays)
    same = model.update(arrays)
    assert same.known.all()
    assert same.sample_ids is None
    other = model.update([array[::-1] for array in arrays])
    assert not other.known.any()
    assert len(other.moved) == 0
    assert other.notes[0] == "The samples have no ids in both tables, so none is recognized. All of them count as new."
    assert (other.labels == other.before).mean() > 0.95
    assert other.new.tolist() == list(range(200))


def test_no_common_samples(tables):
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(take(tables, slice(0, 100)))
    update = model.update(take(tables, slice(100, 200)))
    assert (len(update.new), len(update.gone)) == (100, 100)
    assert update.notes[0] == "No sample of the old model is in the new table. All of them count as new."
    assert update.match.notes == ["All clusters are kept."]
    spelled = {name: table.rename(index=str.upper) for name, table in take(tables, slice(0, 100)).items()}
    assert "upper and lower case" in model.update(spelled).notes[0]


def test_one_cluster(tables):
    model = lf.GlobalAlignmentClustering(1, random_state=0).fit(take(tables, slice(0, 150)))
    update = model.update(tables)
    assert set(update.labels) == {0}
    assert np.isnan(update.drift.p_sizes)
    more = model.set_params(n_clusters=4).update(tables)
    assert len(more.match.splits[0]) >= 2


def test_everything_is_novel(tables):
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(tables)
    update = model.update({name: table + 1000 for name, table in tables.items()})
    assert update.match.vanished == [0, 1, 2, 3]
    assert np.isnan(update.match.agreement)
    assert len(update.moved) == 200


def test_missing_views_and_tables(data, tables):
    """Rows without a view, and columns of words."""
    holes = {name: table.copy() for name, table in tables.items()}
    holes["view_0"].iloc[::5] = np.nan
    words = pd.DataFrame({"kind": [f"kind {one}" for one in data.target], "size": data.views.arrays[0][:, 0]})
    holes["words"] = words.set_index(tables["view_0"].index)
    model = lf.LateFusionClustering(4, random_state=0).fit(take(holes, slice(0, 150)))
    update = model.update(holes)
    assert len(update.moved) <= 3
    np.testing.assert_array_equal(update.model.predict(holes), update.labels)


def test_consensus_of_labels(data):
    generator = np.random.default_rng(0)
    noisy = [np.where(generator.random(200) < 0.1, generator.integers(0, 4, 200), data.target) for _ in range(4)]
    ids = [f"p{row}" for row in range(200)]
    labels = pd.DataFrame(np.column_stack(noisy), index=ids, columns=list("abcd"))
    old, without = labels.iloc[:150], labels[data.target != 1]
    model = lf.ConsensusClustering(random_state=0).fit(old)
    np.testing.assert_array_equal(model.update(old).labels, model.labels_)
    first = model.update(without)
    second = first.model.update(labels)
    assert second.match.appeared == [4]
    named = second.model
    np.testing.assert_array_equal(named.cluster_ids_[named.consensus_.argmax(axis=1)], named.labels_)
    np.testing.assert_array_equal(named.predict(labels), named.labels_)
    np.testing.assert_allclose(named.transform(labels), named.consensus_, atol=1e-12)
    np.testing.assert_array_equal(named.cluster_ids_[named.memberships_.argmax(axis=1)], named.labels_)


def test_refusals(data, tables):
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit(tables)
    with pytest.raises(ValueError, match=r"View 'view_1' does not have the columns \[0\]"):
        model.update(tables | {"view_1": tables["view_1"].drop(columns=0)})
    with pytest.raises(
        ValueError, match="update needs all views of the model, but these are missing for all samples: 'view_2'"
    ):
        model.update({name: table for name, table in tables.items() if name != "view_2"})
    labels = {name: table.round().astype(int) % 4 for name, table in tables.items()}
    labels = {name: table.iloc[:, 0] for name, table in labels.items()}
    consensus = lf.ConsensusClustering(3, random_state=0).fit(labels)
    with pytest.raises(ValueError, match="these are missing for all samples: 'view_1', 'view_2'"):
        consensus.update({"view_0": labels["view_0"]})
    with pytest.raises(ValueError, match="unknown: \\['other'\\]"):
        model.update(tables | {"other": tables["view_0"]})
    kernels = [array @ array.T for array in data.views.arrays]
    kernel = lf.GlobalAlignmentClustering(4, similarity="precomputed", random_state=0).fit(kernels)
    with pytest.raises(ValueError, match=r"view 'view_0' is a kernel.*lf\.match"):
        kernel.update(kernels)
    with pytest.raises(ValueError, match="not fitted"):
        lf.GlobalAlignmentClustering().update(tables)


def test_lists_of_views_have_the_names_of_the_model(tables):
    model = lf.GlobalAlignmentClustering(4, random_state=0).fit({"a": tables["view_0"], "b": tables["view_1"]})
    update = model.update([tables["view_0"], tables["view_1"]])
    assert update.model.view_names_.tolist() == ["a", "b"]


@pytest.mark.filterwarnings("ignore:.*columns")  # `predict` says that columns are not used
def test_further_columns_are_not_used(data, tables):
    named = {name: table.rename(columns=str) for name, table in tables.items()}
    more = {name: table.assign(extra=np.arange(200.0)) for name, table in named.items()}
    options = {"column_kinds": {"9": "drop"}, "random_state": 0}
    model = lf.GlobalAlignmentClustering(4, **options).fit(named)
    for X in (more, list(more.values()), lf.Views(more, sample_ids=model.sample_ids_)):
        update = model.update(X)
        np.testing.assert_array_equal(update.labels, model.labels_)
        assert update.model.n_features_per_view_.tolist() == [9, 9, 9]
    table = pd.DataFrame(data.views.arrays[0], index=tables["view_0"].index).rename(columns="c_{}".format)
    model = lf.GlobalAlignmentClustering(4, views={"a": "c_*", "b": ["c_5", "c_6"]}, random_state=0).fit(table)
    assert model.update(table.assign(c_new=1.0)).model.n_features_per_view_.tolist() == [10, 2]


def test_hints_are_given_again_and_keep_the_ids_of_their_clusters():
    problem = two_clusterings()
    ids = [f"p{row:03d}" for row in range(150)]
    tables = {name: pd.DataFrame(array, index=ids) for name, array in problem.views.items()}
    known = pd.Series(problem.hints(60), index=ids)
    model = lf.GlobalAlignmentClustering(3, random_state=3).fit(tables, known)
    update = model.set_params(random_state=0).update(tables, y=known)
    assert update.model.hints_.followed
    assert len(update.moved) <= 2
    np.testing.assert_array_equal(update.model.hints_.class_clusters, model.hints_.class_clusters)
    rows = update.model.hints_.samples[update.model.hints_.kept]
    clusters = update.model.hints_.clusters[update.model.hints_.kept]
    np.testing.assert_array_equal(update.labels[rows], clusters)


def test_hints_of_samples_that_are_still_there_are_used_again(tmp_path):
    problem = two_clusterings()
    ids = np.array([f"p{row:03d}" for row in range(150)])
    tables = {name: pd.DataFrame(array, index=ids) for name, array in problem.views.items()}
    hints = problem.hints(60)
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(tables, pd.Series(hints, index=ids))
    order = np.random.default_rng(0).permutation(150)[:130]
    later = {name: table.iloc[order] for name, table in tables.items()}
    update = model.update(later)
    expected = lf.GlobalAlignmentClustering(3, random_state=0).fit(later, hints[order])
    np.testing.assert_array_equal(update.model.consensus_, expected.consensus_)
    assert update.model.hints_.followed
    assert len(update.moved) <= 2
    np.testing.assert_array_equal(update.model.cluster_ids_, [0, 1, 2])
    n_kept = int(np.sum(hints[order] >= 0))
    note = f"The hints of the old model were given again, for {n_kept} of its 60 samples with hints."
    assert note in update.notes
    assert any(one.startswith(f"Hints: {n_kept} samples, ") for one in update.notes)
    lf.save(model, tmp_path / "hinted.model")
    loaded = lf.load(tmp_path / "hinted.model").update(later)
    np.testing.assert_array_equal(loaded.labels, update.labels)
    assert note in loaded.notes
    for hint in ({"y": {}}, {"y": pd.Series(hints, index=ids).iloc[order]}):
        again = model.update(later, **hint)
        assert not any("hints of the old model" in one for one in again.notes)
    np.testing.assert_array_equal(again.labels, update.labels)
    assert len(model.update(later, y={}).moved) > 50


def test_pairs_and_hints_of_a_single_class_or_of_no_sample_are_kept_as_far_as_they_go():
    problem = two_clusterings()
    ids = np.array([f"p{row:03d}" for row in range(150)])
    tables = {name: pd.DataFrame(array, index=ids) for name, array in problem.views.items()}
    hints = problem.hints(60)
    pairs = {"must_link": [("p000", "p001"), ("p002", "p149")], "cannot_link": [("p003", "p004")]}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(tables, **pairs)
    found = model.update({name: table.iloc[:-1] for name, table in tables.items()}).model.hints_.hints
    np.testing.assert_array_equal(found.must_link, [[0, 1]])
    np.testing.assert_array_equal(found.cannot_link, [[3, 4]])
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(tables, pd.Series(hints, index=ids))
    rows = np.flatnonzero(hints <= 0)
    assert model.update({name: table.iloc[rows] for name, table in tables.items()}).model.hints_.classes == [0]
    others = {name: table.iloc[np.flatnonzero(hints < 0)] for name, table in tables.items()}
    update = model.update(others)
    assert "The hints of the old model were given again, for 0 of its 60 samples with hints." in update.notes
    assert not hasattr(update.model, "hints_")


def test_no_views_are_named():
    data = lf.datasets.make_views(30, 3, random_state=0)
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    for call in (model.update, model.predict, model.fit):
        with pytest.raises(ValueError, match=r"^X is None\. Give GlobalAlignmentClustering the views"):
            call(None)


def test_categories_that_the_old_model_does_not_know_are_used_by_the_new_one():
    rng = np.random.default_rng(0)
    groups = np.arange(120) % 3
    table = pd.DataFrame({"dose": 4 * groups + rng.standard_normal(120), "site": np.array(list("abc"))[groups]})
    views = {
        "first": table,
        "second": pd.DataFrame(4 * np.eye(3)[groups] + rng.standard_normal((120, 3))).add_prefix("x"),
    }
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    views["first"] = table.assign(site=table["site"].where(np.arange(120) % 4 > 0, "d"))
    message = r"such as 'd', in 30 rows\. The old model takes them as missing\. The new model uses them\."
    with pytest.warns(UserWarning, match=message):
        update = model.update(views)
    assert "d" in update.model.input_schema_.views[0].table.codings[1].levels
