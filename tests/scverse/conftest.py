"""Cells whose RNA and proteins each leave two types alike: only together they tell all of them apart."""

import numpy as np
import pytest
import scipy.sparse

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

N_CELLS, N_TYPES = 240, 4


@pytest.fixture(scope="session")
def counts():
    """Counts of 400 genes and 20 proteins, and the types of the cells; depth varies by a factor of three or more."""
    rng = np.random.default_rng(0)
    types = rng.integers(N_TYPES, size=N_CELLS)
    markers = np.zeros((N_TYPES, 400))
    for kind, group in enumerate((0, 0, 1, 2)):  # RNA takes the first two types for one
        markers[kind, 40 * group : 40 * (group + 1)] = 1.8
    rates = np.exp(rng.normal(-1.5, 1.0, size=400) + markers[types])
    depth = np.exp(rng.normal(0, 0.4, size=(N_CELLS, 1)))
    rna = rng.poisson(rates / rates.sum(axis=1, keepdims=True) * 1500 * depth)
    present = np.zeros((N_TYPES, 20))
    for kind, group in enumerate((0, 1, 2, 2)):  # proteins the last two
        present[kind, 5 * group : 5 * (group + 1)] = 2.5
    proteins = rng.poisson(10 * np.exp(present[types] + rng.normal(0, 0.4, size=(N_CELLS, 1))))
    return scipy.sparse.csr_array(rna.astype(np.float32)), proteins.astype(np.float32), types


CELLS = np.array([f"cell{row}" for row in range(N_CELLS)])


def modality(matrix, cells, prefix, **var):
    names = [f"{prefix}{column}" for column in range(matrix.shape[1])]
    return anndata.AnnData(matrix.copy(), obs=pd.DataFrame(index=cells), var=pd.DataFrame(var, index=names))


def cells_with(mdata, name):
    """Which cells have a modality."""
    return mdata.obs_names.isin(mdata.mod[name].obs_names)


@pytest.fixture
def mdata(counts):
    """RNA of all but the first 20 cells, proteins of all but the last 30, in another order."""
    rna, proteins, types = counts
    shuffled = np.random.default_rng(1).permutation(N_CELLS - 30)
    found = mudata.MuData(
        {
            "rna": modality(rna[20:], CELLS[20:], "gene"),
            "prot": modality(proteins[:-30][shuffled], CELLS[:-30][shuffled], "protein"),
        }
    )
    found.obs["type"] = pd.Categorical([f"T{types[int(cell[4:])]}" for cell in found.obs_names])
    return found


@pytest.fixture
def adata(counts):
    """Genes and antibodies in one matrix, as 10x Genomics delivers them."""
    rna, proteins, types = counts
    kinds = ["Gene Expression"] * rna.shape[1] + ["Antibody Capture"] * proteins.shape[1]
    both = scipy.sparse.hstack([rna, scipy.sparse.csr_array(proteins)], format="csr")
    found = modality(both, CELLS, "feature", feature_types=kinds)
    found.obs["type"] = pd.Categorical([f"T{kind}" for kind in types])
    return found
