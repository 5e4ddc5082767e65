"""Counts as Cell Ranger 2 and later versions store them."""

import numpy as np
import pytest
import scipy.sparse

from latefusion.datasets import load_files, load_views

h5py = pytest.importorskip("h5py")

COUNTS = np.array([[0, 3, 0, 1, 9], [2, 0, 0, 0, 8], [0, 0, 5, 4, 0], [1, 1, 1, 0, 7]], dtype=np.int32)  # cells first
BARCODES = ["AAAC-1", "AAAG-1", "AAAT-1", "AACC-1"]
NAMES = ["TP53", "MYC", "MYC", "CD3", "CD4"]
IDS = ["ENSG1", "ENSG2", "ENSG3", "CD3_TotalSeq", "CD4_TotalSeq"]
TYPES = ["Gene Expression"] * 3 + ["Antibody Capture"] * 2


def store_matrix(group, counts, barcodes):
    matrix = scipy.sparse.csr_array(counts)
    for name in ("data", "indices", "indptr"):
        group.create_dataset(name, data=getattr(matrix, name), chunks=True, compression="gzip")
    group.create_dataset("shape", data=np.array(counts.shape[::-1], dtype=np.int32))
    group.create_dataset("barcodes", data=np.array(barcodes, dtype="S"))


def write_version_3(path, counts=COUNTS, barcodes=BARCODES, types=TYPES):
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        store_matrix(group, counts, barcodes)
        for name, values in {"id": IDS, "name": NAMES, "feature_type": types, "genome": ["hg"] * 5}.items():
            group.create_dataset(f"features/{name}", data=np.array(values, dtype="S"))
    return path


def write_version_2(path, genomes):
    with h5py.File(path, "w") as file:
        for genome, (counts, barcodes) in genomes.items():
            group = file.create_group(genome)
            store_matrix(group, counts, barcodes)
            n_genes = counts.shape[1]
            group.create_dataset("genes", data=np.array(IDS[:n_genes], dtype="S"))
            group.create_dataset("gene_names", data=np.array(NAMES[:n_genes], dtype="S"))
    return path


def test_one_view_per_type_of_features(tmp_path):
    data = load_views(write_version_3(tmp_path / "pbmc.h5"))
    assert data.views.names == ("Gene Expression", "Antibody Capture")
    assert data.views.sample_ids.tolist() == BARCODES
    assert data.views.mask is None
    assert all(scipy.sparse.issparse(array) and array.format == "csr" for array in data.views.arrays)
    np.testing.assert_array_equal(data.views.arrays[0].toarray(), COUNTS[:, :3])
    np.testing.assert_array_equal(data.views.arrays[1].toarray(), COUNTS[:, 3:])
    assert data.feature_names["Gene Expression"] == ["TP53", "MYC (ENSG2)", "MYC (ENSG3)"]
    assert data.name == "pbmc"
    assert data.target is None


def test_types_may_be_mixed(tmp_path):
    types = ["Peaks", "Gene Expression", "Peaks", "Gene Expression", "Peaks"]
    data = load_views(write_version_3(tmp_path / "multi.h5", types=types))
    np.testing.assert_array_equal(data.views.arrays[0].toarray(), COUNTS[:, [0, 2, 4]])
    assert data.views.names == ("Peaks", "Gene Expression")


def test_version_2_has_a_group_per_genome(tmp_path):
    one = load_views(write_version_2(tmp_path / "one.h5", {"GRCh38": (COUNTS, BARCODES)}))
    assert one.views.names == ("Gene Expression",)
    np.testing.assert_array_equal(one.views.arrays[0].toarray(), COUNTS)
    genomes = {"hg19": (COUNTS[:3, :2], BARCODES[:3]), "mm10": (COUNTS[1:], BARCODES[1:])}
    two = load_views(write_version_2(tmp_path / "two.h5", genomes))
    assert two.views.names == ("Gene Expression hg19", "Gene Expression mm10")
    assert two.views.mask.tolist() == [[True, False], [True, True], [True, True], [False, True]]
    np.testing.assert_array_equal(two.views.arrays[1].toarray()[1:], COUNTS[1:])


def test_several_files_keep_their_names(tmp_path):
    write_version_3(tmp_path / "a.h5", types=["Peaks"] * 5)
    write_version_3(tmp_path / "b.h5", barcodes=BARCODES[::-1])
    (tmp_path / "cells.csv").write_text("barcode,donor\nAAAC-1,x\nAACC-1,y\n")
    views = load_files([tmp_path / "a.h5", tmp_path / "b.h5", tmp_path / "cells.csv"]).views
    assert views.names == ("Peaks", "Gene Expression", "Antibody Capture", "cells")
    np.testing.assert_array_equal(views.arrays[1].toarray(), COUNTS[::-1, :3])
    write_version_3(tmp_path / "a.h5")
    names = load_files([tmp_path / "a.h5", tmp_path / "b.h5"]).views.names
    assert names == ("a:Gene Expression", "a:Antibody Capture", "b:Gene Expression", "b:Antibody Capture")


def edit(path, change):
    write_version_3(path)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def replaced(name, values):
    def change(file):
        del file[name]
        file[name] = values

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replaced("matrix/indices", np.full(12, 99)), "damaged: its parts do not make a sparse matrix"),
        (replaced("matrix/indptr", [0, 3, 2**40, 5, 12]), "damaged: its parts do not make a sparse matrix"),
        (replaced("matrix/shape", [5, -4]), "damaged"),
        (replaced("matrix/shape", [5]), r"the shape in /matrix is \(5,\)"),
        (replaced("matrix/shape", [2**40, 4]), "damaged"),
        (replaced("matrix/data", np.array([b"x"] * 12)), "the matrix has type|damaged"),
        (replaced("matrix/barcodes", np.array([b"x"] * 4)), "has the barcode 'x' more than once"),
        (replaced("matrix/barcodes", np.array([b"x", b"y"])), "4 cells, but 5 features and 2 barcodes"),
        (replaced("matrix/features/id", np.array([b"x"])), "5 names but 1 ids"),
        (replaced("matrix/features", 3), "cannot be read as a file of 10x Genomics"),
        (lambda file: file.pop("matrix/features"), "has neither 'features' nor 'genes'"),
        (lambda file: file.pop("matrix/indptr"), "is not a matrix of 10x Genomics: a group with data.*got matrix"),
        (lambda file: file.move("matrix", "X") or (file.create_group("obs") and file.pop("X/data")), "in .h5ad"),
        (lambda file: file.move("matrix", "mod") or (file.create_group("obs") and file.pop("mod/data")), "in .h5mu"),
    ],
)
def test_files_that_are_wrong_are_refused_by_name(tmp_path, change, message):
    path = edit(tmp_path / "pbmc.h5", change)
    with pytest.raises(ValueError, match=rf"pbmc\.h5'.*{message}"):
        load_views(path)


def test_columns_of_classes_are_for_other_formats(tmp_path):
    with pytest.raises(ValueError, match="label_column='x' requires tables"):
        load_views(write_version_3(tmp_path / "pbmc.h5"), label_column="x")
