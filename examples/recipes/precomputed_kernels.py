"""
Kernels instead of features
===========================

A view may be a matrix of similarities: of graphs, strings or sequences, or the ``KH`` of a benchmark in a ``.mat``
file. Pass it with ``similarity="precomputed"``.
"""

# %%
# Three kernels of the same 569 samples. They are centred and scaled automatically, as in the paper.
import numpy as np
from matplotlib import pyplot
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity, rbf_kernel

import latefusion as lf

data = lf.datasets.load_breast_cancer_views()
mean, error, worst = data.views.arrays
train, new = np.arange(500), np.arange(500, 569)
positive = error - error.min(axis=0)


def kernels(rows, columns):
    """Similarities of some samples to others, view by view."""
    return {
        "gaussian": rbf_kernel(mean[rows], mean[columns], gamma=0.05),
        "chi-squared": chi2_kernel(positive[rows], positive[columns], gamma=0.1),
        "cosine": cosine_similarity(worst[rows], worst[columns]),
    }


given = kernels(train, train)
model = lf.GlobalAlignmentClustering(2, similarity="precomputed", random_state=0).fit(given)
print(dict(zip(model.view_names_.tolist(), model.view_weights_.round(3).tolist(), strict=True)))
print(f"accuracy {lf.metrics.clustering_accuracy(data.target[train], model.labels_):.3f}")

# %%
# The kernels with samples ordered by cluster:
order = np.argsort(model.labels_, kind="stable")
figure, axes = pyplot.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, (name, kernel) in zip(axes, given.items(), strict=True):
    ax.imshow(kernel[np.ix_(order, order)], cmap="Blues")
    ax.set(title=name, xticks=[], yticks=[])

# %%
# New samples are given by their similarities to the training samples. Centring and scaling use training statistics.
# Training samples get their own labels.
labels = model.predict(kernels(new, train))
print(f"accuracy on new samples {lf.metrics.clustering_accuracy(data.target[new], labels):.3f}")
print(f"as in training: {np.array_equal(model.predict(kernels(train, train)), model.labels_)}")

# %%
# Self-similarities k(x, x) of new samples are needed only if they differ between training samples. Here they are all 1.
# Otherwise pass ``model.predict(..., diagonals=...)``.
#
# Every comparison method accepts kernels:
mixed = lf.baselines.METHODS["SimpleMKKM"](2, similarity="precomputed", random_state=0).fit(given)
print(f"SimpleMKKM: accuracy {lf.metrics.clustering_accuracy(data.target[train], mixed.labels_):.3f}")
