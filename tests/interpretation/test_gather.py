import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.interpretation.gather import complete_samples, gather, gather_new, shorten


def test_own_clusters_carry_the_names_of_the_consensus(gathered):
    """Where views show planted clusters clearly, each alone finds those of the consensus."""
    for view in gathered.views:
        assert np.mean(view.labels == gathered.labels) > 0.95


def test_names_and_ids_come_from_frames():
    data = lf.datasets.make_views(n_samples=40, n_clusters=2, n_views=2, n_features=3, random_state=0)
    ids = [f"s{i}" for i in range(40)]
    frames = {
        name: pd.DataFrame(array, index=ids, columns=[f"{name}:{one}" for one in "xyz"])
        for name, array in data.views.items()
    }
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(frames)
    found = gather(model, frames)
    assert found.ids == ids
    assert found.views[1].columns == ["view_1:x", "view_1:y", "view_1:z"]
    assert gather(model, frames, sample_ids=range(40)).ids == [str(i) for i in range(40)]


def test_columns_of_one_table():
    data = lf.datasets.make_views(n_samples=40, n_clusters=2, n_views=2, n_features=3, random_state=0)
    table = pd.DataFrame(np.concatenate(data.views.arrays, axis=1), columns=list("abcdef"))
    model = lf.GlobalAlignmentClustering(2, views={"one": ["f", "a"], "two": slice(1, 4)}, random_state=0).fit(table)
    assert [view.columns for view in gather(model, table).views] == [["f", "a"], ["b", "c", "d"]]


def test_unnamed_columns_have_numbers(gathered):
    assert gathered.views[0].columns == [f"column {i}" for i in range(4)]
    assert gathered.ids is None


def test_partitions_of_a_view_that_has_several(deciding, planted):
    found = gather(deciding, planted.views)
    several = sum(view == "view_0" for view, _ in deciding.partition_names_)
    assert found.views[0].rows.shape == (90, several * deciding.n_clusters_)


def test_labelings_keep_their_names(agreed, labelings):
    text, partial, coarse = gather(agreed, labelings).views
    assert [text.label_names[code] for code in text.labels] == labelings["text"].tolist()
    assert not partial.observed[:10].any()
    assert partial.observed[10:].all()
    assert (partial.labels[:10] == -1).all()
    assert coarse.width == 2


def test_memberships_are_labels_by_the_largest(planted):
    shares = np.eye(3)[planted.target] * 0.8 + 0.2 / 3
    model = lf.ConsensusClustering(3, random_state=0).fit({"soft": shares, "hard": planted.target})
    soft, hard = gather(model, {"soft": shares, "hard": planted.target}).views
    np.testing.assert_array_equal(soft.labels, hard.labels)


def test_label_views_among_features(planted):
    names = np.array(["x", "y", "z"])[planted.target]
    views = {"features": planted.views.arrays[0], "names": names}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    features, given = gather(model, views).views
    assert (features.kind, given.kind) == ("features", "labels")
    assert [given.label_names[code] for code in given.labels] == names.tolist()


def test_labels_with_gaps_become_numbers_without(aligned, planted):
    found = gather(aligned, planted.views)
    assert set(found.labels.tolist()) == {0, 1, 2}
    assert found.sizes.sum() == 90
    np.testing.assert_array_equal([found.clusters[code] for code in found.labels], aligned.labels_.astype(str))


@pytest.mark.parametrize("name", ["sample_ids", "target"])
def test_lengths_are_checked(aligned, planted, name):
    with pytest.raises(ValueError, match=f"{name} has 3 samples, but the model was fitted on 90"):
        gather(aligned, planted.views, **{name: [1, 2, 3]})


def test_other_samples_are_refused(aligned, planted):
    with pytest.raises(ValueError, match="X has 50 samples"):
        gather(aligned, planted.views[:50])


def test_complete_samples(agreed, labelings):
    found = gather(agreed, labelings)
    np.testing.assert_array_equal(complete_samples(found, 100, np.random.default_rng(0)), np.arange(10, 90))
    few = complete_samples(found, 7, np.random.default_rng(0))
    assert len(few) == 7
    assert (np.diff(few) > 0).all()
    assert few.min() >= 10


def test_shorten():
    assert shorten(["a", "b"], 2) == "a, b"
    assert shorten(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_missing_values_are_imputed_for_maps_and_kept_for_profiles():
    rng = np.random.default_rng(0)
    views = {"a": rng.standard_normal((40, 3)), "b": rng.standard_normal((40, 2))}
    views["a"][5, 1] = np.nan
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(views)
    first, second = gather(model, views, single_views=False).views
    assert np.isfinite(first.array).all()
    np.testing.assert_array_equal(first.values, views["a"])
    np.testing.assert_array_equal(second.values, views["b"])
    complete = {"a": first.array, "b": views["b"]}
    assert gather(model, complete, single_views=False).views[0].with_gaps is None


def test_other_samples_have_predicted_labels_and_no_confidence(aligned, planted):
    some = planted.views[10:30]
    found = gather(aligned, some, single_views=False, new=True)
    np.testing.assert_array_equal(found.labels, aligned.labels_[10:30])
    assert found.confidence is None
    assert found.clusters == ["0", "1", "2"]
    assert gather(aligned, planted.views, single_views=False, new=True).confidence is not None
    with pytest.raises(ValueError, match="X has 20 samples, but the model was fitted on 90"):
        gather(aligned, some, single_views=False)


def test_warnings_need_only_the_values_that_the_model_used():
    """Tables are read once for warnings; profiles also need their columns and missing values as they were given."""
    table = pd.DataFrame({"size": [1.0, 2.0, np.nan, 4.0] * 5, "colour": ["red", "blue"] * 10})
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"table": table})
    whole, part = (gather(model, {"table": table}, single_views=False, as_given=one) for one in (True, False))
    np.testing.assert_array_equal(whole.views[0].array, part.views[0].array)
    assert set(whole.views[0].table_columns) == {"size", "colour"}
    assert whole.views[0].with_gaps is not None
    assert not part.views[0].table_columns
    assert part.views[0].with_gaps is None


def test_new_samples_have_what_the_model_predicts(aligned, planted):
    rows = np.flatnonzero(aligned.labels_ != 1)[:30]
    found = gather_new(aligned, planted.views[rows], target=planted.target[rows])
    labels, confidence, novelty = aligned.predict(planted.views[rows], return_confidence=True, return_novelty=True)
    assert found.clusters == ["0", "2"]  # those that have samples
    assert [found.clusters[one] for one in found.labels] == [str(one) for one in labels]
    np.testing.assert_array_equal(found.confidence, confidence)
    np.testing.assert_array_equal(found.novelty, novelty)
    np.testing.assert_array_equal(found.consensus, aligned.transform(planted.views[rows]))
    assert found.sizes.min() > 0
    assert all(view.labels is None for view in found.views)


def test_methods_that_do_not_predict_have_labels_only(planted):
    frames = {
        name: pd.DataFrame(array).add_prefix("c").set_axis([f"s{one}" for one in range(90)])
        for name, array in planted.views.items()
    }
    model = lf.baselines.METHODS["concat-kmeans"](3, random_state=0).fit(frames)
    found = gather_new(model, {name: one[10:40] for name, one in frames.items()})
    assert [found.clusters[one] for one in found.labels] == [str(one) for one in model.labels_[10:40]]
    assert found.consensus is None


def test_the_training_samples_need_all_views(aligned, planted):
    """The clusters of the fit are not those of one view alone."""
    part = {"view_0": planted.views.arrays[0]}
    with pytest.raises(
        ValueError, match=r"X does not have the view 'view_1', which the model was fitted on. .* new=True"
    ):
        gather(aligned, part)
    assert gather_new(aligned, part).observed.tolist() == [[True, False]] * 90
