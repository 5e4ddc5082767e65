"""Tables of labels: each column or file is a clustering, and what is not a clustering is refused by name."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.datasets import load_clusterings


@pytest.fixture
def write(tmp_path):
    """Write a text table and return its path."""

    def to(name, text, encoding="utf-8"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding=encoding)
        return path

    return to


def labels(data, name):
    array = dict(data.views.items())[name]
    return [None if pd.isna(one) else one for one in array.iloc[:, 0]]


def test_files_are_clusterings_matched_by_id(write):
    first = write("kmeans.csv", "id,label\nann,1\nbob,2\ncem,1\n")
    second = write("snf.csv", "id;label\ncem;x\ndan;y\nann;y\n", "utf-8-sig")
    data = load_clusterings([first, second])
    assert data.views.sample_ids.tolist() == ["ann", "bob", "cem", "dan"]
    assert data.id_name == "id"
    assert labels(data, "kmeans") == [1, 2, 1, None]
    assert labels(data, "snf") == ["y", None, "x", "y"]
    assert data.views.mask.tolist() == [[True, True], [True, False], [True, True], [False, True]]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_tables_of_cluster_are_one_clustering_each(tmp_path, suffix):
    """Confidence, novelty and memberships are not clusterings."""
    views = lf.datasets.make_views(60, 3, random_state=0).views
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    found = lf.outputs.fitted_labels(model, memberships=True)
    for name in ("one", "two"):
        lf.outputs.write_labels(found, tmp_path / f"{name}{suffix}")
    data = load_clusterings([tmp_path / f"{name}{suffix}" for name in ("one", "two")])
    assert data.views.names == ("one", "two")
    assert labels(data, "one") == model.labels_.tolist()


def test_columns_are_clusterings(write):
    path = write("runs.csv", "patient,k_1,k_2,site\np1,0,a,x\np2,0,b,y\np3,1,b,x\n")
    assert load_clusterings([path]).views.names == ("k_1", "k_2", "site")
    assert load_clusterings([path], columns=["k_*"]).views.names == ("k_1", "k_2")
    assert load_clusterings([path], columns=["site", "k_2"]).views.names == ("k_2", "site")
    assert load_clusterings([path], columns=["k_1"]).views.names == ("runs",)
    with pytest.raises(ValueError, match=r"No file has a column 'z\*'. The columns are .*'k_1', 'k_2', 'site'"):
        load_clusterings([path], columns=["k_1", "z*"])


def test_names_are_never_ambiguous(write):
    text = "id,label\na,1\nb,2\n"
    first, second = write("one/labels.csv", text), write("two/labels.csv", text)
    assert load_clusterings([first, second]).views.names == (str(first), str(second))
    third, fourth = write("x.csv", "id,k,m\na,1,1\nb,2,2\n"), write("y.csv", "id,k,n\na,1,1\nb,2,2\n")
    assert load_clusterings([third, fourth]).views.names == ("x:k", "m", "y:k", "n")
    fifth = write("k.csv", text)
    assert load_clusterings([third, fifth]).views.names == ("x:k", "m", "k")


def test_folders_sheets_and_compressed_files(tmp_path, write):
    write("runs/a.csv", "id,label\nx,1\ny,2\n")
    write("runs/labels.csv", "id,label\nx,1\ny,1\nz,2\n")
    assert load_clusterings([tmp_path / "runs"]).views.names == ("a", "labels")
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(b"id,label\nx,1\ny,2\n"))
    assert load_clusterings([tmp_path / "runs" / "a.csv", packed]).views.names == ("a", "b")
    book = tmp_path / "book.xlsx"
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(book) as writer:
        for name in ("one", "two"):
            pd.DataFrame({"id": ["x", "y", "z"], "label": [1, 2, 2]}).to_excel(writer, sheet_name=name, index=False)
    assert load_clusterings([book]).views.names == ("one", "two")


def test_missing_labels_and_negative_numbers_are_unassigned(write):
    path = write("runs.csv", "id,a,b\np,1,\nq,-1,x\nr,2,y\ns,-1,\n")
    with pytest.warns(UserWarning, match="Left out: 1 sample without a cluster in any table, such as 's'"):
        data = load_clusterings([path])
    assert data.views.sample_ids.tolist() == ["p", "q", "r"]
    assert data.views.mask.tolist() == [[True, False], [False, True], [True, True]]
    other = write("zero.csv", "id,a,b\np,0,noise\nq,-1,x\nr,2,y\ns,-1,noise\n")
    with pytest.warns(UserWarning, match="such as 'p'"):
        data = load_clusterings([other], unassigned=[0, "noise"])
    assert data.views.sample_ids.tolist() == ["q", "r", "s"]


def test_no_warning_if_all_samples_have_a_cluster(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_clusterings([write("a.csv", "id,label\nx,1\ny,2\n")])


def test_known_classes_are_no_clustering(write):
    runs = write("runs.csv", "id,a,b,kind\np,1,1,S\nq,2,2,T\nr,2,1,S\n")
    data = load_clusterings([runs], label_column="kind")
    assert data.views.names == ("a", "b")
    assert data.target.tolist() == [0, 1, 0]
    truth = write("truth.csv", "id,class\nr,U\nq,V\np,V\n")
    data = load_clusterings([runs], columns=["a", "b"], label_file=truth)
    assert [data.target_names[one] for one in data.target] == ["V", "V", "U"]
    with pytest.raises(ValueError, match="No file has a column 'nothing' of classes"):
        load_clusterings([runs], label_column="nothing")
    incomplete = write("some.csv", "id,class\nr,U\nq,V\n")
    with pytest.raises(ValueError, match="1 of 3 samples have no label, such as 'p'"):
        load_clusterings([runs], label_file=incomplete)


def test_without_ids_rows_are_in_order(write):
    first, second = write("a.csv", "k1,k2\n1,1\n2,1\n2,2\n"), write("b.csv", "k3\n5\n6\n6\n")
    data = load_clusterings([first, second])
    assert data.views.sample_ids is None
    assert data.views.names == ("k1", "k2", "b")
    with_ids = write("c.csv", "id,label\nx,1\ny,2\nz,1\n")
    with pytest.raises(ValueError, match=r"c.csv'\] have sample ids and \['[^']*a.csv'\] have none"):
        load_clusterings([first, with_ids])


def test_transposed_tables(write):
    path = write("wide.csv", "method,p,q,r\nkmeans,1,1,2\nsnf,1,2,2\n")
    data = load_clusterings([path], transpose=True)
    assert data.views.sample_ids.tolist() == ["p", "q", "r"]
    assert labels(data, "snf") == [1, 2, 2]


ROWS = "".join(f"p{row},{row % 2}\n" for row in range(6))
BAD = {
    "measurements": ("id,g\n" + "".join(f"p{row},{row / 4}\n" for row in range(6)), "numbers that are not whole, the"),
    "counts": (
        "id,n\n" + "".join(f"p{row},{row * 3}\n" for row in range(6)),
        "a different value in each of its 6 rows",
    ),
    "names": ("id,n\n" + "".join(f"p{row},x{row}\n" for row in range(6)), "a different value in each of its 6 rows"),
    "one cluster": ("id,n\n" + "".join(f"p{row},1\n" for row in range(6)), "has only the label '1'"),
    "nothing": ("id,n\n" + "".join(f"p{row},\n" for row in range(6)), "has no labels"),
    "ids only": ("id\n" + "".join(f"p{row}\n" for row in range(6)), "has no column of labels"),
    "repeated ids": ("id,n\n" + ROWS + "p2,1\n", "the sample id 'p2' 2 times .*in line 4 and in line 8"),
    "empty": ("", "is empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_a_clustering_is_refused_by_name(write, name):
    text, words = BAD[name]
    good, bad = write("good.csv", f"id,label\n{ROWS}"), write("bad.csv", text)
    with pytest.raises(ValueError, match=rf"bad.csv'.*{words}"):
        load_clusterings([good, bad])
    if name in ("measurements", "counts", "names"):
        with pytest.raises(ValueError, match=r"`latefusion cluster bad\.csv`"):
            load_clusterings([good, bad])


def test_other_mistakes(write, tmp_path):
    good = write("good.csv", f"id,label\n{ROWS}")
    with pytest.raises(ValueError, match="given twice"):
        load_clusterings([good, good])
    np.savez(tmp_path / "a.npz", view_0=np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"a\.npz' is not a table of labels"):
        load_clusterings([tmp_path / "a.npz"])
    with pytest.raises(OSError, match=r"nothing\.csv"):
        load_clusterings([tmp_path / "nothing.csv"])
    with pytest.raises(ValueError, match="No clusterings were given"):
        load_clusterings([])
    upper = write("upper.csv", f"id,label\n{ROWS}".replace("p", "P"))
    with pytest.raises(ValueError, match="6 of its 6 ids differ only in upper and lower case, such as 'p0' and 'P0'"):
        load_clusterings([good, upper])
    other = write("other.csv", f"id,label\n{ROWS}".replace("p", "q"))
    with pytest.raises(ValueError, match="no sample in common") as refused:
        load_clusterings([good, other])
    assert "ransposed" not in str(refused.value)  # that both have a column "label" is no sign of it
    negative = write("negative.csv", "id,label\np0,-1\np1,-2\n")
    with pytest.raises(ValueError, match=r"negative\.csv': none of the 2 samples has a cluster"):
        load_clusterings([negative])
