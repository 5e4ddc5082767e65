"""
Three tables of the same patients
=================================

Three laboratories measured the same tumours. Each sent a table, in its own units, in its own order, and none has
every patient. The question: which groups of patients are there, and which table says so?

The data are real: 569 breast tumours of the Wisconsin diagnostic set that scikit-learn ships. Its thirty columns come
in three parts (mean, standard error and worst value of ten measurements of cell nuclei), which serve as our tables. The
diagnosis is known; it is used at the very end, to check.
"""

# %%
# The tables
# ----------
# One data frame per laboratory, with the patient as index. We shuffle each of them and drop a few patients, as
# life does.
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
# Rows are matched by index. Patients that a table lacks are no error: their other tables speak for them.
model = lf.LateFusionClustering(n_clusters=2, random_state=0).fit(tables)
print(model.selection_.reason)
print(model.view_kinds_)

# %%
# Columns in different units were recognised as such and scaled. Which patients are where, and how sure is it? Those
# that lack a table are less sure.
labels = lf.labels_frame(model, tables)
print(labels.head())
by_tables = labels.assign(tables=model.n_observed_views_).groupby("tables")
print(by_tables["confidence"].mean().round(2))

# %%
# Which table matters
# -------------------
# The bars are the weights of the tables in the consensus, the dots say how well the groups of a table alone agree
# with it.
figure = ViewWeightsDisplay.from_estimator(model).figure_
figure.set_size_inches(6, 2.4)

# %%
# A map of the patients by the principal components of all their measurements, with the groups as colours; pale ones lie
# between the groups or lack tables.
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
# A patient who has been to one laboratory only can be assigned, too.
print(model.predict({"worst": table[columns["worst"]].iloc[:5]}))

# %%
# Was it right?
# -------------
# Now the diagnosis, which nothing above has seen.
diagnosis = source.target_names[source.target]
known = pd.Series(diagnosis, index=table.index, name="diagnosis")[labels.index]
print(pd.crosstab(known, labels["label"]))
for name, score in lf.metrics.clustering_scores(known.to_numpy(), model.labels_).items():
    print(f"{name:9} {score:.3f}")

# %%
# And what would the plain way have given? All columns scaled and put side by side, for the patients in all tables,
# then k-means or spectral clustering:
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
# On patients who have everything, spectral clustering of the scaled columns side by side is as good. What it cannot do
# is the rest of this page: patients who lack a table, a weight per table, a confidence, new patients.
#
# Is two the right number?
# ------------------------
# Two was our question: a diagnosis has two answers. Left open, with everything at its default, two is not what comes
# out. This is the evidence: how well clusters are found again in other patients, what they say about neighbouring
# ones, and the score that both make.
free = lf.LateFusionClustering(n_clusters="auto", random_state=0).fit(tables)
print(free.number_selection_.reason)
NumberOfClustersDisplay.from_estimator(free)

# %%
evidence = free.number_selection_.evidence
numbers = pd.DataFrame(evidence).assign(score=[one.score for one in evidence])
numbers.set_index("n_clusters").sort_values("score", ascending=False).head().round(3)

# %%
# Two clusters are found again far better than any other number; more clusters say more about neighbours, and in the
# score the leaders are nearly level. The map shows why: the tumours are one cloud, dense at one end and thin at the
# other, with no gap that would fix a number. Then the question decides, not the score. What came out is finer than the
# diagnosis: some groups are nearly all benign or nearly all malignant, the others lie between.
pd.crosstab(known, free.labels_, colnames=["cluster"])
