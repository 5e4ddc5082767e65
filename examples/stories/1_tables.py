"""
Three tables of the same patients
=================================

Three laboratories measured the same tumours. Each table has its own units and its own order, and no table contains
every patient. Which groups of patients are there, and how important is each table?

The data are real: 569 breast tumours of the Wisconsin diagnostic set that scikit-learn ships. Its thirty columns come
in three parts (mean, standard error and worst value of ten measurements of cell nuclei), which are used as three
tables. The known diagnosis is used only at the end, to check the result.
"""

# %%
# The tables
# ----------
# One data frame per laboratory, with the patient as index. Each is shuffled, and some patients are removed.
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import latefusion as lf
from latefusion.plots import ConsensusDisplay, NumberOfClustersDisplay, ViewWeightsDisplay

# sphinx_gallery_thumbnail_number = 2
source = load_breast_cancer(as_frame=True)
table = source.data.set_axis([f"patient {number:03}" for number in range(569)])
columns = {
    "mean": [name for name in table if name.startswith("mean ")],
    "error": [name for name in table if name.endswith(" error")],
    "worst": [name for name in table if name.startswith("worst ")],
}
generator = np.random.default_rng(0)
tables = {
    name: table[own].sample(n, random_state=generator.integers(1000))
    for (name, own), n in zip(columns.items(), [540, 520, 550], strict=True)
}
tables["error"].iloc[:3, :4].round(3)

# %%
# One clustering of all of them
# -----------------------------
# Rows are matched by index. A patient may be missing from some tables.
model = lf.LateFusionClustering(n_clusters=2, random_state=0).fit(tables)
print(model.selection_.reason)
print(model.view_kinds_)

# %%
# Columns in different units were recognised and scaled. Labels and confidence by patient: patients with a missing table
# have a lower confidence.
labels = lf.labels_frame(model, tables)
print(labels.head())
by_tables = labels.assign(tables=model.n_observed_views_).groupby("tables")
print(by_tables["confidence"].mean().round(2))

# %%
# Which table matters
# -------------------
# The bars are the weights of the tables in the consensus. The dots show the agreement of each table with the
# consensus.
figure = ViewWeightsDisplay.from_estimator(model).figure_
figure.set_size_inches(6, 2.4)

# %%
# A map of the patients by the principal components of all their measurements, with the groups as colours. Patients
# between the groups or with missing tables are pale.
scaled = StandardScaler().fit_transform(table.loc[labels.index])
picture = ConsensusDisplay(
    PCA(2).fit_transform(scaled),
    model.labels_,
    confidence=model.confidence_,
    method="component",
)
picture.plot(s=16)

# %%
# New patients
# ------------
# A patient with one table only can be assigned as well.
print(model.predict({"worst": table[columns["worst"]].iloc[:5]}))

# %%
# Comparison with the diagnosis
# -----------------------------
# The diagnosis was not used above.
diagnosis = source.target_names[source.target]
known = pd.Series(diagnosis, index=table.index, name="diagnosis")[labels.index]
print(pd.crosstab(known, labels["label"]))
for name, score in lf.metrics.clustering_scores(known.to_numpy(), model.labels_).items():
    print(f"{name:9} {score:.3f}")

# %%
# Baselines for the patients in all tables: all columns scaled and put side by side, then k-means or spectral
# clustering, and others:
here = [set(one.index) for one in tables.values()]
complete = [patient for patient in table.index if all(patient in one for one in here)]
rows = lf.compare_baselines(
    {name: one.loc[complete] for name, one in tables.items()},
    n_clusters=2,
    target=known[complete].to_numpy(),
    random_state=0,
)
print(f"{len(complete)} of {len(labels)} patients are in all three tables, and in this comparison.")
rows

# %%
# On complete patients, spectral clustering of the scaled columns side by side is as good. It does not provide missing
# tables, weights, confidence or labels of new patients.
#
# Is two the right number?
# ------------------------
# Two was given, because a diagnosis has two answers. With default parameters another number is selected. The evidence
# is the stability of the clusters, their information about neighbouring patients, and the score of both.
free = lf.LateFusionClustering(n_clusters="auto", random_state=0).fit(tables)
print(free.number_selection_.reason)
NumberOfClustersDisplay.from_estimator(free)

# %%
evidence = free.number_selection_.evidence
numbers = pd.DataFrame(evidence).assign(score=[one.score for one in evidence])
numbers.set_index("n_clusters").sort_values("score", ascending=False).head().round(3)

# %%
# Two clusters are far more stable than any other number. More clusters have more information about neighbours, and the
# best scores are nearly equal. The map shows the reason: the tumours form one cloud, dense at one end and sparse at the
# other, without a gap. The application then has to decide, not the score. The selected clustering is finer than the
# diagnosis: some groups are nearly all benign or nearly all malignant, the others are mixed.
pd.crosstab(known, free.labels_, colnames=["cluster"])
