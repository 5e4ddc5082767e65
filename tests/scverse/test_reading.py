import numpy as np
import pytest
import scipy.sparse

from latefusion.scverse import read_views
from latefusion.scverse.counts import center_log_ratios, log_normalize, principal_components
from latefusion.scverse.reading import normalize_modalities
from latefusion.types import Views
from tests.scverse.conftest import CELLS

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:mudata")


def test_counts_are_normalised_by_what_they_count(mdata, counts):
    rna, proteins, _ = counts
    views, read_as = read_views(mdata)
    rows = {cell: row for row, cell in enumerate(CELLS)}
    order = np.array([rows[cell] for cell in views.sample_ids])
    assert views.sample_ids.tolist() == mdata.obs_names.tolist()
    np.testing.assert_array_equal(views.mask, np.column_stack([order >= 20, order < 210]))
    np.testing.assert_allclose(
        views.arrays[1][order < 210], center_log_ratios(proteins)[order[order < 210]], rtol=1e-6, atol=1e-6
    )
    expected = principal_components(log_normalize(rna[20:]))
    np.testing.assert_allclose(views.arrays[0][order >= 20], expected[order[order >= 20] - 20], rtol=1e-3, atol=1e-3)
    assert read_as == {
        "rna": "X, counts log-normalised, 50 principal components",
        "prot": "X, counts to centred log ratios",
    }


def test_known_representations_come_first_and_named_ones_before_all(mdata):
    rng = np.random.default_rng(0)
    mdata.mod["rna"].obsm["X_pca"] = rng.normal(size=(220, 7))
    mdata.mod["rna"].obsm["X_other"] = rng.normal(size=(220, 3))
    assert read_views(mdata).views.widths == (7, 20)
    chosen = read_views(mdata, {"rna": "X_other", "prot": "X"})
    assert chosen.views.widths == (3, 20)
    assert chosen.read_as == {"rna": "X_other", "prot": "X"}
    np.testing.assert_array_equal(np.nanmax(chosen.views.arrays[1]), mdata.mod["prot"].X.max())  # as they are
    alone = read_views(mdata, {"prot": "X"}).views
    assert len(alone) == 210
    assert alone.mask.all()


def test_chosen_genes_are_the_only_ones(mdata):
    mdata.mod["rna"].var["highly_variable"] = np.arange(400) < 30
    reading = read_views(mdata)
    assert reading.views.widths == (30, 20)
    assert reading.read_as["rna"] == "X, counts log-normalised, 30 highly variable features"
    dense = log_normalize(mdata.mod["rna"].X)
    np.testing.assert_array_equal(
        reading.views.arrays[0][np.flatnonzero(reading.views.mask[:, 0])].toarray(), dense[:, :30].toarray()
    )


def test_unknown_modalities_are_left_alone(mdata):
    renamed = type(mdata)({"images": mdata.mod["rna"], "sounds": mdata.mod["prot"]})
    views, read_as = read_views(renamed)
    assert read_as == {"images": "X", "sounds": "X"}
    assert scipy.sparse.issparse(views.arrays[0])


def test_one_matrix_is_split_by_the_types_of_its_features(adata, counts):
    views, read_as = read_views(adata)
    assert views.names == ("Gene Expression", "Antibody Capture")
    np.testing.assert_allclose(views.arrays[1], center_log_ratios(counts[1]), rtol=1e-6)
    assert read_as["Gene Expression"] == "X, counts log-normalised, 50 principal components"


def test_representations_of_anndata_are_views(adata):
    adata.obsm["a"], adata.obsm["b"] = np.ones((240, 2)), adata.obs[["type"]].assign(type=1.0)
    assert read_views(adata, ["a", "b"]).views.widths == (2, 1)
    assert read_views(adata, {"left": "a", "right": "X"}).views.names == ("left", "right")


@pytest.mark.parametrize(
    ("use_rep", "said"),
    [
        ("X_scvi", r"modality 'rna' has no representation 'X_scvi'. It has \['X'"),
        ({"dna": "X"}, r"use_rep names \['dna'\], which are not modalities. The modalities are \['rna', 'prot'\]"),
        (["X", "X"], "must be one key for all modalities or a dict by modality"),
        ({}, "No modalities were given"),
    ],
)
def test_wrong_names_are_refused(mdata, use_rep, said):
    with pytest.raises(ValueError, match=said):
        read_views(mdata, use_rep)


def test_wrong_objects_are_refused(adata):
    with pytest.raises(TypeError, match="Give a MuData or an AnnData object, got ndarray"):
        read_views(np.eye(3))
    with pytest.raises(ValueError, match="use_rep is empty"):
        read_views(adata, [])
    adata.obsm["words"] = np.full((240, 2), "x")
    with pytest.raises(ValueError, match="'words' of this AnnData object has the shape"):
        read_views(adata, ["words"])
    del adata.var["feature_types"]
    with pytest.raises(ValueError, match=r"one type of features. Name the representations.*\['X', 'words'\]"):
        read_views(adata)


def test_views_with_names_of_modalities_are_read_alike_today_and_tomorrow(counts):
    rna, proteins, _ = counts
    mask = np.ones((240, 2), dtype=bool)
    mask[:5, 1] = False
    views = Views({"rna": rna, "prot": np.where(mask[:, 1:], proteins, np.nan)}, mask=mask)
    whole, read_as = normalize_modalities(views)
    assert read_as == {"prot": "counts to centred log ratios"}
    assert whole.arrays[0] is rna
    np.testing.assert_allclose(whole.arrays[1][5:], center_log_ratios(proteins[5:]))
    assert np.isnan(whole.arrays[1][:5]).all()
    np.testing.assert_array_equal(normalize_modalities(views[100:]).views.arrays[1], whole.arrays[1][100:])
    again = normalize_modalities(whole)
    assert again.read_as == {}  # what is no count any more stays
