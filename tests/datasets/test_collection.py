"""Views in several files: names, samples, classes."""

import numpy as np
import pandas as pd
import pytest

from latefusion.datasets import load_files, load_views

IDS = ["ann", "bob", "cem", "dan"]


@pytest.fixture
def folder(tmp_path):
    pd.DataFrame({"id": IDS, "g": [1.0, 2, 3, 4], "class": list("xyxy")}).to_csv(tmp_path / "genes.csv", index=False)
    pd.DataFrame({"id": IDS[::-1], "p": [40.0, 30, 20, 10], "q": 0.5}).to_parquet(tmp_path / "proteins.parquet")
    return tmp_path


def test_rows_are_matched_by_id_and_columns_keep_their_names(folder):
    data = load_files([folder / "genes.csv", str(folder / "proteins.parquet")])
    assert data.views.names == ("genes", "proteins")
    assert data.views.sample_ids.tolist() == IDS
    assert data.views.arrays[0].ravel().tolist() == [1, 2, 3, 4]
    assert data.views.arrays[1][:, 0].tolist() == [10, 20, 30, 40]
    assert data.feature_names == {"genes": ["g"], "proteins": ["p", "q"]}
    assert (data.target.tolist(), data.target_names) == ([0, 1, 0, 1], ("x", "y"))
    assert data.name == "genes + proteins"


def test_one_path_is_what_load_views_reads(folder):
    one, other = load_files([folder]), load_views(folder)
    assert one.views.names == other.views.names
    assert one.feature_names == other.feature_names == {"genes": ["g"], "proteins": ["p", "q"]}
    np.testing.assert_array_equal(one.target, other.target)


def test_samples_of_any_file_are_there(folder):
    pd.DataFrame({"id": ["dan", "eva"], "l": [1.0, 2.0]}).to_csv(folder / "lipids.csv", index=False)
    data = load_files([folder / "genes.csv", folder / "lipids.csv"])
    assert data.views.sample_ids.tolist() == [*IDS, "eva"]
    assert data.views.mask.tolist() == [[True, False]] * 3 + [[True, True], [False, True]]
    assert data.target is None  # nobody asked for the classes, and that of eva is not known
    with pytest.raises(ValueError, match="1 of 5 samples have no label, such as 'eva'"):
        load_files([folder / "genes.csv", folder / "lipids.csv"], label_column="class")


def test_a_folder_and_files_with_several_views_join(folder):
    (folder / "more").mkdir()
    pd.DataFrame({"id": ["bob", "ann"], "u": [2.0, 1.0]}).to_csv(folder / "more" / "u.csv", index=False)
    pd.DataFrame({"id": ["cem", "ann"], "v": [3.0, 1.0]}).to_csv(folder / "more" / "v.csv", index=False)
    data = load_files([folder / "more", folder / "genes.csv"])
    assert data.views.names == ("u", "v", "genes")
    seen = {one: row for one, row in zip(data.views.sample_ids.tolist(), data.views.mask.tolist(), strict=True)}
    assert seen == {
        **{"ann": [True, True, True], "bob": [True, False, True]},
        **{"cem": [False, True, True], "dan": [False, False, True]},
    }


def test_names_that_meet(folder):
    np.savez(folder / "a.npz", view_0=np.eye(4), view_1=np.ones((4, 2)))
    np.savez(folder / "b.npz", view_0=np.eye(4), view_1=np.ones((4, 2)))
    assert load_files([folder / "a.npz", folder / "b.npz"]).views.names == (
        *("a:view_0", "a:view_1", "b:view_0", "b:view_1"),
    )
    (folder / "far").mkdir()
    (folder / "genes.csv").rename(folder / "far" / "proteins.csv")
    with pytest.raises(ValueError, match=r"both hold a view 'proteins': rename one"):
        load_files([folder / "far" / "proteins.csv", folder / "proteins.parquet"])
    with pytest.raises(ValueError, match="was named twice"):
        load_files([folder / "a.npz", folder / "a.npz"])


def test_classes_from_a_column_or_a_file(folder):
    paths = [folder / "genes.csv", folder / "proteins.parquet"]
    pd.DataFrame({"id": IDS[::-1], "subtype": list("baab")}).to_csv(folder / "truth.csv", index=False)
    assert load_files(paths, label_file=folder / "truth.csv").target.tolist() == [1, 0, 0, 1]
    by_column = load_files(paths, label_column="class")
    assert by_column.target.tolist() == [0, 1, 0, 1]
    assert by_column.feature_names["genes"] == ["g"]
    with pytest.raises(ValueError, match=r"No file has a column 'kind' of classes; .*'genes.csv': \['g'"):
        load_files(paths, label_column="kind")
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        load_files(paths, label_file=folder / "nothing.csv")


def test_what_does_not_fit_together(folder):
    np.savez(folder / "k.npz", kernel_0=np.eye(4))
    np.savez(folder / "v.npz", view_0=np.eye(4))
    with pytest.raises(ValueError, match="Some files hold kernels and others features"):
        load_files([folder / "k.npz", folder / "v.npz"])
    with pytest.raises(ValueError, match=r"have sample ids and .* have none"):
        load_files([folder / "genes.csv", folder / "v.npz"])
    with pytest.raises(ValueError, match="There are no files"):
        load_files([])
