"""
Cells with RNA and protein
==========================

A CITE-seq experiment counts, for every cell, transcripts of thousands of genes and a few dozen surface proteins. Some
cell types differ in one of the two only: helper and killer T cells have nearly the same transcripts but carry
different proteins, naive and memory cells the other way round. No view alone finds all types; together they do.

The cells here are **simulated**, so that this page needs no download and the truth is known: counts of a negative
binomial distribution, cells of different depth, mostly zeros in the RNA, background from unbound antibodies in the
protein.
"""

# %%
# Simulated counts that look like it
# ----------------------------------
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

import latefusion as lf
from latefusion.plots import ConsensusDisplay, MissingViewsDisplay

generator = np.random.default_rng(0)
shares = {"CD4 naive": 0.25, "CD4 memory": 0.15, "CD8": 0.15, "B": 0.15, "NK": 0.1, "monocyte": 0.15, "dendritic": 0.05}
types = list(shares)
n_cells, n_genes = 600, 800
cell_type = generator.choice(len(types), size=n_cells, p=list(shares.values()))


def negative_binomial(mean, dispersion):
    """Counts with variance mean + mean² / dispersion."""
    return generator.poisson(mean * generator.gamma(dispersion, 1 / dispersion, size=mean.shape))


# Every type has forty marker genes; the CD8 cells have those of the naive CD4 cells.
expression = np.tile(generator.gamma(0.3, 1.0, size=n_genes) + 0.02, (len(types), 1))
for own in expression:
    own[generator.choice(n_genes, size=40, replace=False)] *= generator.uniform(4, 12, size=40)
expression[types.index("CD8")] = expression[types.index("CD4 naive")]
expression /= expression.sum(axis=1, keepdims=True)
depth = generator.lognormal(np.log(1000), 0.4, size=(n_cells, 1))
rna = negative_binomial(depth * expression[cell_type], dispersion=2.0)

# Ten antibodies, the last two of them controls that bind nothing.
antibodies = ["CD3", "CD4", "CD8", "CD19", "CD56", "CD14", "CD11c", "CD45", "IgG1", "IgG2"]
carried = {
    "CD4 naive": ["CD3", "CD4"],
    "CD4 memory": ["CD3", "CD4"],
    "CD8": ["CD3", "CD8"],
    "B": ["CD19"],
    "NK": ["CD56"],
    "monocyte": ["CD14", "CD11c"],
    "dendritic": ["CD11c"],
}
bound = np.array([[8.0 if antibody in carried[one] else 1.0 for antibody in antibodies] for one in types])
bound[:, antibodies.index("CD45")] = 40.0
background = generator.lognormal(np.log(12), 0.3, size=len(antibodies))
protein = negative_binomial(
    generator.lognormal(0, 0.35, size=(n_cells, 1)) * background * bound[cell_type], dispersion=4.0
)
print(f"RNA: {rna.shape[1]} genes, {np.mean(rna == 0):.0%} zeros; protein: {protein.shape[1]} antibodies")

# %%
# The usual preparation
# ---------------------
# RNA: counts per ten thousand, logarithm, principal components. Protein: centred log ratio. (`LateFusionClustering`
# takes the sparse counts themselves as well, and weighs genes by how rare they are; that takes longer.)
per_cell = np.log1p(rna / rna.sum(axis=1, keepdims=True) * 1e4)
log_protein = np.log1p(protein)
views = {
    "rna": PCA(30, random_state=0).fit_transform(per_cell),
    "protein": log_protein - log_protein.mean(axis=1, keepdims=True),
}

# %%
# Together, and each alone
# ------------------------
model = lf.LateFusionClustering(n_clusters=7, random_state=0).fit(views)
alone = {
    name: lf.LateFusionClustering(n_clusters=7, random_state=0).fit({name: view}).labels_
    for name, view in views.items()
}
for name, labels in {**alone, "both": model.labels_}.items():
    score = lf.metrics.adjusted_rand(cell_type, labels)
    print(f"{name:8} adjusted Rand index with the cell types: {score:.3f}")

# %%
# RNA alone cannot tell the CD8 cells from the naive CD4 cells, protein alone cannot tell naive from memory. The table
# of the consensus against the types:
clusters = lf.metrics.match_labels(cell_type, model.labels_)
pd.crosstab(np.array(types)[cell_type], clusters, rownames=["type"], colnames=["cluster"])

# %%
ConsensusDisplay.from_estimator(model, s=14)

# %%
# Against plain methods, all of them given the number of clusters:
lf.compare_baselines(views, n_clusters=7, target=cell_type, random_state=0)

# %%
# Cells without protein
# ---------------------
# Half of the cells of an experiment were sequenced without antibodies. Rows of NaN say so, and nothing is imputed in
# the data.
lost = generator.random(n_cells) < 0.5
holes = views | {"protein": np.where(lost[:, None], np.nan, views["protein"])}
partial = lf.LateFusionClustering(n_clusters=7, random_state=0).fit(holes)
MissingViewsDisplay.from_estimator(partial).figure_.set_size_inches(6, 2.6)
for name, cells in {"with protein": ~lost, "without": lost}.items():
    score = lf.metrics.adjusted_rand(cell_type[cells], partial.labels_[cells])
    print(f"{name:13} {score:.3f}, mean confidence {partial.confidence_[cells].mean():.2f}")

# %%
# Cells without protein cannot be split by what only protein shows, and the confidence says so. The next batch needs no
# new clustering: ``partial.predict({"rna": ...})`` assigns its cells.
#
# The same from a MuData object
# -----------------------------
# Who works with muon has the counts in one object, which knows its cells and genes. One call prepares them as above and
# writes what it found where scanpy and muon look for it.
import mudata
from anndata import AnnData

cells = pd.DataFrame(index=[f"cell {number}" for number in range(n_cells)])
genes = pd.DataFrame(index=[f"gene {number}" for number in range(n_genes)])
mudata.set_options(pull_on_update=False)
mdata = mudata.MuData(
    {
        "rna": AnnData(rna.astype(float), obs=cells, var=genes),
        "prot": AnnData(protein.astype(float), obs=cells, var=pd.DataFrame(index=antibodies)),
    }
)
lf.scverse.cluster(mdata, n_clusters=7)
mdata.obs.head(3).round(2)

# %%
# How the counts were read, and why these settings:
print(mdata.uns["latefusion"]["read_as"])
print(mdata.uns["latefusion"]["reason"])

# %%
# For a page to pass on, keep the model; ``features=mdata`` describes clusters by genes and proteins where principal
# components were clustered::
#
#     from latefusion.report import write_report
#
#     views = lf.scverse.read_views(mdata).views
#     model = lf.LateFusionClustering(7, random_state=0).fit(views)
#     write_report(model, views, "cells.html", features=mdata)
