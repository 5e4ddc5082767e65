"""Split-sample p-values: valid where ordinary ones are not."""

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.interpretation.gather import gather
from latefusion.interpretation.halves import label_half


def data_of(model, X):
    return gather(model, X, single_views=False, new=True)


def test_honest_p_values_are_valid_without_clusters_and_ordinary_ones_are_not():
    ordinary, honest = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        views = [rng.standard_normal((100, 4)) for _ in range(2)]
        model = lf.GlobalAlignmentClustering(2, random_state=0).fit(views)
        ordinary.append(lf.profiles(model, views).of(0)["p"])
        honest.append(lf.profiles(model, views, honest=True, random_state=seed).of(0)["p"])
    ordinary, honest = np.concatenate(ordinary), np.concatenate(honest)
    assert np.mean(ordinary < 0.05) > 0.3
    # 160 p-values, a standard error of 0.017 if they were independent; those of one draw are not quite.
    assert np.mean(honest < 0.05) < 0.11
    assert 0.4 < np.mean(honest) < 0.6


def test_planted_clusters_have_small_honest_p_values(aligned, planted):
    found = lf.profiles(aligned, planted.views, honest=True, random_state=0)
    assert (found.top(1)["p_adjusted"] < 1e-3).all()
    assert "Honest p-values: 45 random samples were clustered again into 3 clusters. The other 45" in found.notes[0]
    assert not any("too small" in note for note in found.notes)


def test_labels_of_the_half_have_the_numbers_of_the_model(deciding, planted):
    data = data_of(deciding, planted.views)
    labels, notes = label_half(data, planted.views, 0)
    assert list(labels) == ["view_0", "view_1"]
    for own in labels.values():
        assert np.count_nonzero(own >= 0) == 45
        np.testing.assert_array_equal(own[own >= 0], data.labels[own >= 0])
    assert "1.00 without view_0, 1.00 without view_1" in notes[0]


def test_a_feature_does_not_decide_about_its_own_labels(aligned, planted):
    """The labels for a view do not change with the values of the tested half in this view."""
    data = data_of(aligned, planted.views)
    labels, _ = label_half(data, planted.views, 0)
    tested = labels["view_0"] >= 0
    changed = planted.views.arrays[0].copy()
    changed[tested] = np.random.default_rng(0).standard_normal(changed[tested].shape)
    X = lf.Views([changed, planted.views.arrays[1]])
    again, _ = label_half(data_of(aligned, X), X, 0)
    np.testing.assert_array_equal(again["view_0"] >= 0, tested)
    # The clusters of the first half keep their numbers, too.
    np.testing.assert_array_equal(pd.factorize(again["view_0"][tested])[0], pd.factorize(labels["view_0"][tested])[0])


def test_the_seed_decides_about_the_halves(aligned, planted):
    data = data_of(aligned, planted.views)
    halves = [label_half(data, planted.views, seed).labels["view_0"] >= 0 for seed in (0, 0, 1)]
    np.testing.assert_array_equal(halves[0], halves[1])
    assert (halves[0] != halves[2]).any()


def test_clusterings_are_split_too(agreed, labelings):
    data = data_of(agreed, labelings)
    labels, _ = label_half(data, labelings, 0)
    finer = np.arange(90) >= 10  # the others have the coarse clusters only, when the first clustering is hidden
    for own in labels.values():
        assert np.count_nonzero(own >= 0) == 45
        compared = (own >= 0) & finer
        np.testing.assert_array_equal(own[compared], data.labels[compared])


def test_tables_with_ids_in_other_orders_are_split_by_sample():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    ids = np.array([f"p{row:02d}" for row in range(60)])
    words = pd.DataFrame({"word": np.where(group, "a", "b"), "x": rng.normal(group * 6, 1)}, index=ids)
    numbers = pd.DataFrame(rng.normal(group[:, None] * 6, 1, (60, 3)), index=ids)
    X = {"words": words.sample(frac=1, random_state=0), "numbers": numbers[5:]}
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(X)
    data = data_of(model, X)
    labels, _ = label_half(data, X, 0)
    for own in labels.values():
        np.testing.assert_array_equal(own[own >= 0], data.labels[own >= 0])
    # Samples without another view have no label for this one.
    alone = np.isin(data.ids, ids[:5])
    assert (labels["words"][alone] == -1).all()


def test_groups_of_columns_of_one_table_are_split():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    table = pd.DataFrame(rng.normal(group[:, None] * 6, 1, (60, 4)), columns=list("abcd"))
    model = lf.GlobalAlignmentClustering(2, views={"one": ["a", "b"], "two": ["c", "d"]}, random_state=0).fit(table)
    found = lf.profiles(model, table, honest=True, random_state=0)
    assert (found["p"] < 1e-3).all()
    assert sorted(set(found["feature"].tolist())) == list("abcd")


def test_labels_beside_features_are_split():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    X = {"numbers": rng.normal(group[:, None] * 6, 1, (60, 2)), "labels": np.array(["u", "v"])[group]}
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(X)
    found = lf.profiles(model, X, honest=True, random_state=0)
    assert set(found["kind"].tolist()) == {"number", "label"}
    assert (found["p"] < 1e-4).all()


def test_tensors_are_split(aligned, planted):
    torch = pytest.importorskip("torch")
    X = {name: torch.tensor(array) for name, array in planted.views.items()}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(X)
    found = lf.profiles(model, X, honest=True, random_state=0)
    expected = lf.profiles(aligned, planted.views, honest=True, random_state=0)
    np.testing.assert_allclose(np.sort(found["p"]), np.sort(expected["p"]), rtol=1e-6)


def test_a_loaded_model_can_be_split(aligned, planted, tmp_path):
    lf.save(aligned, tmp_path / "m.model")
    loaded = lf.profiles(lf.load(tmp_path / "m.model"), planted.views, honest=True, random_state=0)
    np.testing.assert_array_equal(loaded["p"], lf.profiles(aligned, planted.views, honest=True, random_state=0)["p"])


def test_other_clusters_are_reported():
    """Each view has two clusters of its own."""
    rng = np.random.default_rng(0)
    views = [rng.normal(rng.integers(0, 2, (80, 1)) * 8, 1, (80, 3)) for _ in range(2)]
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(views)
    notes = lf.profiles(model, views, honest=True, random_state=0).notes
    assert any("the labels are other clusters than those of the model" in note for note in notes)


def test_what_cannot_be_split_is_refused(planted):
    plain = lf.baselines.METHODS["concat-kmeans"](3, random_state=0).fit(planted.views)
    with pytest.raises(ValueError, match=r"needs a model that labels new samples\. ConcatKMeans cannot: leave out"):
        lf.profiles(plain, planted.views, honest=True)
    view = planted.views.arrays[0]
    single = lf.GlobalAlignmentClustering(3, random_state=0).fit([view])
    with pytest.raises(ValueError, match=r"but there is only one view\. Divide its features into several views"):
        lf.profiles(single, [view], honest=True)
    few = planted.views[np.r_[0:2, 30:32, 60:62, 3:5]]
    small = lf.GlobalAlignmentClustering(3, random_state=0).fit(few)
    with pytest.raises(ValueError, match=r"8 samples are too few for 3 clusters\. Leave out honest=True"):
        lf.profiles(small, few, honest=True)
