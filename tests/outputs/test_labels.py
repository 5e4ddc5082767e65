"""Labels come back as they came in: type, index, ids."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import latefusion as lf
from latefusion.outputs import Labels, fitted_labels, predicted_labels, write_labels
from latefusion.outputs.labels import recognized_labels
from latefusion.outputs.table_files import table_target
from latefusion.outputs.targets import LABELS

DATA = lf.datasets.make_views(60, 3, random_state=0)
VIEWS = DATA.views
IDS = [f"s{row:02d}" for row in range(60)]


def frame(kind, array):
    columns = {f"c{position}": column for position, column in enumerate(array.T)}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](columns)


def frames(kind, rows=slice(None)):
    return {name: frame(kind, array[rows]) for name, array in VIEWS.items()}


MODEL = lf.GlobalAlignmentClustering(3, random_state=0).fit(VIEWS)
MODEL_OF_FRAMES = lf.GlobalAlignmentClustering(3, random_state=0).fit(frames("pandas"))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_kind_give_the_same_clusters_in_their_own_kind(kind):
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(frames(kind))
    np.testing.assert_array_equal(model.labels_, MODEL.labels_)
    for X in (frames(kind), list(frames(kind).values()), lf.Views(frames(kind))):
        found = lf.labels_frame(model, X)
        assert type(found) is type(frame(kind, VIEWS.arrays[0]))
        np.testing.assert_array_equal(np.asarray(found["label"]), model.labels_)
        np.testing.assert_array_equal(np.asarray(found["confidence"]), model.confidence_)
    new = lf.labels_frame(model, frames(kind, slice(5)), new=True)
    np.testing.assert_array_equal(np.asarray(new["label"]), model.labels_[:5])
    np.testing.assert_allclose(np.asarray(new["confidence"]), model.confidence_[:5], atol=1e-8)
    assert len(lf.Views(frames(kind))[:5]) == 5


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_one_table_gives_one_table(kind):
    table = frame(kind, np.hstack(VIEWS.arrays))
    model = lf.LocalAlignmentClustering(3, views={"a": slice(10), "b": slice(10, 30)}, random_state=0).fit(table)
    assert model.feature_names_in_[0] == "c0"
    found = lf.labels_frame(model, table)
    assert type(found) is type(table)
    np.testing.assert_array_equal(np.asarray(found["label"]), model.labels_)
    np.testing.assert_array_equal(np.asarray(lf.labels_frame(model, table, new=True)["label"]), model.labels_)


def test_a_pandas_index_stays_whatever_it_is():
    pairs = pd.MultiIndex.from_arrays([IDS, range(60)], names=["who", "visit"])
    for index in (pd.Index(IDS, name="who"), pairs, pd.date_range("2020", periods=60), pd.RangeIndex(60)):
        X = {name: one.set_axis(index) for name, one in frames("pandas").items()}
        model = lf.GlobalAlignmentClustering(3, random_state=0).fit(X)
        found = lf.labels_frame(model, X)
        pd.testing.assert_index_equal(found.index, index)
        np.testing.assert_array_equal(found["label"], MODEL.labels_)


def test_rows_follow_the_ids_of_the_first_frame():
    order = np.random.default_rng(0).permutation(60)
    X = {name: one.set_axis(pd.Index(IDS, name="who")) for name, one in frames("pandas").items()}
    X["view_1"] = X["view_1"].iloc[order]
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(X)
    found = lf.labels_frame(model, X)
    assert found.index.tolist() == IDS
    np.testing.assert_array_equal(found.loc[[IDS[row] for row in order], "label"], MODEL.labels_[order])
    new = lf.labels_frame(model, {name: one.loc[IDS[:9]] for name, one in X.items()}, new=True)
    pd.testing.assert_frame_equal(new[found.columns], found.loc[IDS[:9]], atol=1e-8)


def test_ids_become_a_column_where_frames_have_no_index():
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(lf.Views(frames("polars"), sample_ids=IDS))
    found = lf.labels_frame(model, lf.Views(frames("polars"), sample_ids=IDS))
    assert found.columns[:3] == ["id", "label", "confidence"]
    assert found["id"].to_list() == IDS
    mixed = lf.labels_frame(model, [VIEWS.arrays[0], *list(frames("pandas").values())[1:]])
    assert mixed.index.tolist() == IDS


def named_frames(rows=slice(None)):
    index = pd.Index(IDS, name="who")
    return {name: one.set_axis(index).iloc[rows] for name, one in frames("pandas").items()}


def test_samples_of_the_fit_come_in_any_order_and_number():
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(named_frames())
    whole = lf.labels_frame(model, named_frames())
    for rows in (slice(None, None, -1), slice(5, 25), [3, 50, 7]):
        pd.testing.assert_frame_equal(lf.labels_frame(model, named_frames(rows)), whole.iloc[rows])


def test_samples_that_were_not_fitted_are_never_given_labels_of_others():
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(named_frames())
    new = {name: one.rename(lambda one: "new " + one) for name, one in named_frames(slice(60)).items()}
    half = {name: pd.concat([one, new[name]]) for name, one in named_frames().items()}
    for X, words in ((new, "60 samples.*'new s00'"), (half, "60 samples.*'new s00'")):
        with pytest.raises(ValueError, match=f"X has {words}.* new=True"):
            lf.labels_frame(model, X)
    found = lf.labels_frame(model, half, new=True)
    assert found.index.tolist() == [*IDS, *("new " + one for one in IDS)]
    np.testing.assert_array_equal(found["label"], np.tile(model.labels_, 2))


def test_without_ids_samples_must_be_those_of_the_fit():
    assert lf.labels_frame(MODEL, frames("polars")).columns == ["label", "confidence", "novelty"]
    for order in (np.arange(60)[::-1], np.r_[1:60, 0]):
        with pytest.raises(ValueError, match=r"X has other values.*new=True"):
            lf.labels_frame(MODEL, frames("polars", order))
        found = lf.labels_frame(MODEL, frames("polars", order), new=True)
        np.testing.assert_array_equal(found["label"], MODEL.labels_[order])
    with pytest.raises(ValueError, match=r"X has other values"):
        lf.labels_frame(MODEL, {name: one + 1.0 for name, one in frames("pandas").items()})


def test_the_index_keeps_its_name_where_frames_overlap_in_part():
    X = named_frames()
    X = {"view_0": X["view_0"][:50], **{name: one[10:] for name, one in X.items() if name != "view_0"}}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(X)
    assert lf.labels_frame(model, X).index.name == "who"
    assert lf.labels_frame(model, X).index.tolist() == model.sample_ids_.tolist()


def test_one_table_with_ids_is_matched_by_them():
    table = frame("pandas", np.hstack(VIEWS.arrays)).set_axis(pd.Index(IDS, name="who"))
    model = lf.GlobalAlignmentClustering(3, views=[slice(10), slice(10, 30)], random_state=0).fit(table)
    assert model.sample_ids_.tolist() == IDS
    found = lf.labels_frame(model, table[::-1])
    pd.testing.assert_index_equal(found.index, table.index[::-1])
    np.testing.assert_array_equal(found["label"], model.labels_[::-1])


@pytest.mark.parametrize(
    "estimator", [lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering, lf.LateFusionClustering]
)
def test_set_output_has_the_sample_ids_as_index(estimator):
    X = named_frames()
    X["view_1"] = X["view_1"][::-1]
    model = estimator(3, random_state=0).set_output(transform="pandas")
    fitted = model.fit_transform(X)
    pd.testing.assert_index_equal(fitted.index, pd.Index(IDS, name="who"))
    assert list(fitted.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(fitted, model.consensus_)
    some = {name: one.loc[["s07", "s03"]] for name, one in X.items()}
    pd.testing.assert_index_equal(model.transform(some).index, pd.Index(["s07", "s03"], name="who"))
    pd.testing.assert_index_equal(model.transform(frames("pandas")).index, pd.RangeIndex(60))
    polars = model.set_output(transform="polars").transform(X)
    assert polars.columns == list(model.get_feature_names_out())
    assert isinstance(model.set_output(transform="default").transform(X), np.ndarray)


def test_a_consensus_of_series_has_ids_as_everywhere():
    ids = pd.Index(IDS, name="who")
    X = {"a": pd.Series(DATA.target[:50], index=ids[:50]), "b": pd.Series(DATA.target[10:], index=ids[10:])[::-1]}
    model = lf.ConsensusClustering(3, random_state=0).fit(X)
    assert sorted(model.sample_ids_) == sorted(IDS)
    found = lf.labels_frame(model, X)
    assert found.index.name == "who"
    assert found.index.tolist() == model.sample_ids_.tolist()
    np.testing.assert_array_equal(lf.labels_frame(model, X, new=True)["label"], found["label"])
    truth = pd.Series(DATA.target, index=ids)[found.index]
    assert lf.metrics.adjusted_rand(truth, found["label"]) == 1.0
    model.fit([DATA.target, DATA.target])
    assert not hasattr(model, "sample_ids_")


def test_what_has_no_answer_says_so():
    with pytest.raises(ValueError, match="X contains no data frame"):
        lf.labels_frame(MODEL, VIEWS)
    with pytest.raises(ValueError, match=r"X has 5 samples, but the model was fitted on 60.*new=True"):
        lf.labels_frame(MODEL, frames("polars", slice(5)))
    plain = lf.baselines.METHODS["concat-kmeans"](3).fit(frames("polars"))
    assert lf.labels_frame(plain, frames("polars")).columns == ["label"]
    able = "LateFusionClustering, GlobalAlignmentClustering, LocalAlignmentClustering and ConsensusClustering can"
    with pytest.raises(ValueError, match=f"ConcatKMeans cannot label new samples. Only {able}"):
        lf.labels_frame(plain, frames("polars"), new=True)


def test_labels_of_a_model_and_of_new_samples_agree():
    fitted, predicted = fitted_labels(MODEL), predicted_labels(MODEL, VIEWS)
    assert fitted.ids is None
    np.testing.assert_array_equal(fitted.labels, predicted.labels)
    np.testing.assert_allclose(fitted.confidence, predicted.confidence, atol=1e-8)


def test_samples_that_are_far_away_are_novel_on_every_device():
    far = {name: np.vstack([array[:3], array[:1] + 1000]) for name, array in VIEWS.items()}
    found = predicted_labels(MODEL, far)
    np.testing.assert_array_equal(found.novelty > 1, [False, False, False, True])
    torch = pytest.importorskip("torch")
    tensors = {name: torch.asarray(array) for name, array in VIEWS.items()}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(tensors)
    moved = predicted_labels(model, {name: torch.asarray(array) for name, array in far.items()})
    assert all(isinstance(column, np.ndarray) for column in moved.columns().values())
    np.testing.assert_allclose(moved.novelty, found.novelty, rtol=1e-6)


def test_a_consensus_of_labels_predicts_all_columns():
    labelings = {"a": np.repeat([0, 1], 10), "b": np.repeat(["x", "y"], 10)}
    model = lf.ConsensusClustering(2, random_state=0).fit(labelings)
    found = predicted_labels(model, labelings)
    np.testing.assert_array_equal(found.labels, model.labels_)
    assert list(found.columns()) == ["label", "confidence", "novelty"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_files_hold_ids_labels_and_confidence(suffix, tmp_path):
    ids = np.array(["a,b", 'say "x"', "Zoë\n2"])
    found = Labels(ids, np.array([0, 1, 0]), np.array([0.1, 1 / 3, 1.0]), np.array([0.0, 1.5, 0.7]))
    write_labels(found, tmp_path / f"labels{suffix}")
    read = {".csv": pd.read_csv, ".tsv": lambda file: pd.read_csv(file, sep="\t"), ".parquet": pd.read_parquet}
    table = read[suffix](tmp_path / f"labels{suffix}")
    assert list(table.columns) == ["id", "label", "confidence", "novelty"]
    assert table["id"].tolist() == ids.tolist()
    assert table["label"].tolist() == [0, 1, 0]
    assert table["confidence"].tolist() == [0.1, 1 / 3, 1.0]
    assert table["novelty"].tolist() == [0.0, 1.5, 0.7]
    write_labels(Labels(None, np.array([1, 0]), None), tmp_path / f"bare{suffix}")
    bare = read[suffix](tmp_path / f"bare{suffix}")
    assert bare.to_dict("list") == {"id": [0, 1], "label": [1, 0]}


def test_ids_have_the_name_that_they_are_given():
    found = Labels(np.array(["a", "b"]), np.array([1, 0]), np.array([0.5, 1.0]))
    assert list(found.called("patient").table()) == ["patient", "label", "confidence"]
    for taken in ("", "label", "confidence"):
        assert found.called(taken) is found
    assert list(found._replace(ids=None).called("patient").table()) == ["id", "label", "confidence"]


def test_files_that_cannot_be_written_are_refused_early(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"ends in '.xlsx', but a table of labels is written as .csv"):
        write_labels(Labels(None, np.array([0])), tmp_path / "labels.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="needs pyarrow"):
        table_target(tmp_path / "labels.parquet", LABELS)


def test_new_samples_are_as_sure_as_the_same_samples_were_in_training():
    data = lf.datasets.make_views(60, 3, n_views=2, random_state=0)
    first, second = (pd.DataFrame(view, index=[f"s{i}" for i in range(60)]) for view in data.views.arrays)
    views = {"first": first[:50], "second": second[10:]}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    again = lf.labels_frame(model, views, new=True)
    np.testing.assert_allclose(again["confidence"], model.confidence_, atol=1e-8)


def test_training_samples_are_recognized_and_others_predicted():
    labels, are_fitted = recognized_labels(MODEL, MODEL.new_views(VIEWS))
    assert are_fitted
    assert labels is MODEL.labels_
    some, are_fitted = recognized_labels(MODEL, MODEL.new_views(VIEWS[5:20]))
    assert not are_fitted
    np.testing.assert_array_equal(some, MODEL.labels_[5:20])


def test_methods_that_do_not_predict_label_their_training_samples_by_id():
    X = {name: pd.DataFrame(array, index=IDS) for name, array in VIEWS.items()}
    plain = lf.baselines.METHODS["concat-kmeans"](3, random_state=0).fit(X)
    some = plain.new_views({name: frame[::-3] for name, frame in X.items()})
    labels, are_fitted = recognized_labels(plain, some)
    assert not are_fitted
    np.testing.assert_array_equal(labels, plain.labels_[::-3])
    others = plain.new_views({name: frame.set_axis([f"t{row}" for row in range(60)]) + 1 for name, frame in X.items()})
    with pytest.raises(
        ValueError, match=r"on 60 samples, and X has 60 samples, or other values\. Give the data of `fit`"
    ):
        recognized_labels(plain, others)


def test_memberships_are_columns_on_request():
    found = lf.labels_frame(MODEL_OF_FRAMES, frames("pandas"), memberships=True)
    assert list(found.columns) == [
        *("label", "confidence", "novelty", "membership", "membership_0", "membership_1", "membership_2")
    ]
    every = found[["membership_0", "membership_1", "membership_2"]].to_numpy()
    np.testing.assert_allclose(every, MODEL_OF_FRAMES.memberships_)
    np.testing.assert_array_equal(found["membership"], every.max(axis=1))
    np.testing.assert_array_equal(every.argmax(axis=1), found["label"])
    new = lf.labels_frame(MODEL_OF_FRAMES, frames("pandas", slice(7)), new=True, memberships=True)
    np.testing.assert_allclose(new["membership"], found["membership"][:7], atol=1e-8)


def test_memberships_and_changes_after_an_update_have_the_ids_of_clusters(tmp_path):
    found = Labels(
        np.array(["a", "b"]),
        np.array([5, 2]),
        memberships=np.array([[0.1, 0.9], [0.8, 0.2]]),
        cluster_ids=(2, 5),
        before=np.array([2, 2]),
        change=np.array(["moved", "kept"]),
    )
    columns = found.columns()
    assert list(columns) == ["label", "before", "change", "membership", "membership_2", "membership_5"]
    assert columns["membership"].tolist() == [0.9, 0.8]
    for name in ("labels.csv", "labels.parquet"):
        write_labels(found, tmp_path / name)
        write_labels(found, tmp_path / name)  # recognized as a table of labels
    written = pd.read_csv(tmp_path / "labels.csv")
    assert written["change"].tolist() == ["moved", "kept"]
    assert written["before"].tolist() == [2, 2]


def test_comparison_methods_have_no_memberships():
    plain = lf.baselines.ConcatKMeans(3, random_state=0).fit(frames("polars"))
    with pytest.raises(ValueError, match=r"ConcatKMeans has no memberships\. Only LateFusionClustering, Global"):
        lf.labels_frame(plain, frames("polars"), memberships=True)
