"""Views in several files: names, samples, classes."""

import warnings

import numpy as np
import pandas as pd
import pytest

from latefusion.datasets import load_files, load_views
from latefusion.estimators import GlobalAlignmentClustering

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


def test_dropped_columns_are_in_no_view(folder):
    data = load_files([folder / "genes.csv", folder / "proteins.parquet"], drop=["q", "class"])
    assert data.feature_names == {"genes": ["g"], "proteins": ["p"]}
    assert data.target is None
    for paths in ([folder / "genes.csv"], [folder]):
        assert load_files(paths, drop=["class"]).target is None
        with pytest.raises(ValueError, match=r"drop names 'clas', but no table has this column"):
            load_files(paths, drop=["clas"])


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
    with pytest.raises(ValueError, match=r"both contain a view 'proteins'. Rename one"):
        load_files([folder / "far" / "proteins.csv", folder / "proteins.parquet"])
    with pytest.raises(ValueError, match="was given twice"):
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
    with pytest.raises(ValueError, match="Some files contain kernels and others features"):
        load_files([folder / "k.npz", folder / "v.npz"])
    with pytest.raises(ValueError, match=r"have sample ids and .* have none"):
        load_files([folder / "genes.csv", folder / "v.npz"])
    with pytest.raises(ValueError, match="No files were given"):
        load_files([])


def write_transposed(folder):
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.normal(size=(6, 4)), index=[f"g{row}" for row in range(6)], columns=IDS)
    genes.to_csv(folder / "rna.csv", index_label="gene")
    (genes * 2).rename(index="m{}".format).to_csv(folder / "methyl.tsv", sep="\t", index_label="gene")
    return genes


def test_a_transposed_table_is_read_the_other_way_round(folder):
    genes = write_transposed(folder)
    data = load_files([folder / "proteins.parquet", folder / "rna.csv"], transpose=[folder / "rna.csv"])
    order = data.views.sample_ids.tolist()
    np.testing.assert_allclose(data.views.arrays[1], genes[order].T)
    assert data.feature_names["rna"] == list(genes.index)
    both = load_files([folder / "rna.csv", folder / "methyl.tsv"], transpose=True)
    np.testing.assert_allclose(both.views.arrays[1], 2 * genes[both.views.sample_ids.tolist()].T)
    assert load_views(folder / "rna.csv", transpose=True).views.sample_ids.tolist() == IDS
    genes.T.to_parquet(folder / "upright.parquet")
    genes.to_parquet(folder / "flat.parquet")
    upright, flat = load_views(folder / "upright.parquet"), load_views(folder / "flat.parquet", transpose=True)
    np.testing.assert_array_equal(upright.views.arrays[0], flat.views.arrays[0])


def test_classes_in_a_row_of_a_transposed_table(folder):
    write_transposed(folder)
    with (folder / "rna.csv").open("a") as file:
        file.write("label,x,y,x,y\n")
    data = load_views(folder / "rna.csv", transpose=True)
    assert (data.views.widths, data.target_names) == ((6,), ("x", "y"))
    assert data.views.arrays[0].dtype == np.float64


@pytest.mark.parametrize("order", [("rna.csv", "genes.csv"), ("genes.csv", "rna.csv")])
def test_the_error_asks_whether_a_table_is_transposed_and_names_it(folder, order):
    write_transposed(folder)
    asked = r"Transposed\? 4 of the 4 column names of \S*rna\.csv are ids of samples.*transpose=\['\S*rna\.csv'\]"
    with pytest.raises(ValueError, match=asked):
        load_files([folder / name for name in order])
    with pytest.raises(ValueError, match=r"4 of its 4 column names are also column names .*transpose=True"):
        load_files([folder / "rna.csv", folder / "methyl.tsv"])
    (folder / "truth.csv").write_text("id,kind\n" + "".join(f"{one},{one[0]}\n" for one in IDS))
    with pytest.raises(ValueError, match=asked):
        load_files([folder / "rna.csv"], label_file=folder / "truth.csv")


def test_transposed_files_must_be_among_the_files(folder):
    write_transposed(folder)
    with pytest.raises(ValueError, match=r"transpose names '.*other\.csv', which is not one of the files"):
        load_files([folder / "rna.csv"], transpose=[folder / "other.csv"])
    (folder / "sub").mkdir()
    (folder / "rna.csv").rename(folder / "sub" / "rna.csv")
    data = load_files([folder / "sub", folder / "genes.csv"], transpose=[folder / "sub" / "rna.csv"])
    assert data.views.mask is None


def test_errors_of_transposed_tables_name_rows_and_columns_of_the_file(folder):
    (folder / "t.csv").write_text("gene,chr,ann,bob\nTP53,17,1,2\nMYC,q,3,4\n")
    with pytest.raises(ValueError, match=r"t\.csv': rows that are not numbers: 'MYC'.*'q' in column 'chr'"):
        load_views(folder / "t.csv", transpose=True)
    (folder / "t.csv").write_text("gene,ann,bob\nTP53,1,2\n\nTP53,3,4\n")
    with pytest.raises(ValueError, match=r"'TP53' 2 times \(in column 'gene', in line 2 and in line 4\)"):
        load_views(folder / "t.csv", transpose=True)


def test_every_table_keeps_the_decimal_sign_of_its_file(tmp_path):
    rows = range(8)
    german = ["id;price;share", *(f"p{row};{row + 1}.{100 + row} €;{row},5 %" for row in rows)]
    english = ["id,price,x", *(f'p{row + 2},"${row + 1},{100 + row}",{row}.5' for row in rows)]
    for name, lines in {"german": german, "english": english}.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    views = load_files([tmp_path / "german.csv", tmp_path / "english.csv"]).views
    assert [array.attrs for array in views.arrays] == [{"decimal": ","}, {"decimal": "."}]
    assert [array.attrs for array in views[np.arange(3)].arrays] == [{"decimal": ","}, {"decimal": "."}]
    model = GlobalAlignmentClustering(2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(views)
    tables = model.table_columns(views)
    found = [schema.table.codings[0].numbers(tables[schema.name]["price"])[2] for schema in model.input_schema_.views]
    assert found == [3102, 1100]
