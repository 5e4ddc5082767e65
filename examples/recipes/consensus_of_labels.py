"""
One clustering of many
======================

Several clusterings, from any method and with any number of clusters, are combined into one. Unassigned samples are
allowed. The number of clusters is selected automatically.
"""

# %%
# Sixteen runs of k-means with 5 to 20 clusters, and HDBSCAN, which leaves many samples unassigned.
import numpy as np
from matplotlib import pyplot
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_digits

import latefusion as lf

X, target = load_digits(return_X_y=True)
runs = {f"k-means, {k}": KMeans(k, n_init=1, random_state=k).fit(X) for k in range(5, 21)}
runs["HDBSCAN"] = HDBSCAN(min_cluster_size=20, copy=True).fit(X)
print(f"HDBSCAN leaves {np.mean(runs['HDBSCAN'].labels_ < 0):.0%} of the samples unassigned")

model = lf.consensus(runs, random_state=0)
print(f"{model.n_clusters_} clusters, accuracy {lf.metrics.clustering_accuracy(target, model.labels_):.3f}")
best = max(lf.metrics.clustering_accuracy(target, run.labels_) for run in runs.values())
print(f"the best single run, chosen with the classes: {best:.3f}")

# %%
# Agreement of every clustering with the consensus:
figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
axes.barh(list(runs), model.agreement_, color="#3f90da")
axes.invert_yaxis()
axes.set(xlabel="agreement with the consensus", xlim=(0, 1))
axes.spines[["top", "right"]].set_visible(False)

# %%
# The number of clusters is where the evidence decreases most: the eigenvalues of the mean co-membership, plus a quarter
# of the share of clusterings with at least as many clusters.
figure, axes = pyplot.subplots(figsize=(6, 3), layout="constrained")
axes.plot(np.arange(2, len(model.eigenvalues_) + 2), model.eigenvalues_, "o-", color="#3f90da")
axes.axvline(model.n_clusters_ + 0.5, color="0.6", linestyle=":")
axes.set(xlabel="number of clusters", ylabel="eigenvalue", xlim=(1.5, 20.5), xticks=range(2, 21, 2))
