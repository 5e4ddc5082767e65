"""
A path of λ
===========

λ pulls the consensus towards the partition of the mean kernel. A path of many values costs about as much as one value,
because they share base partitions and the cost of the iterations does not depend on the number of samples.
"""

# %%
# Digits, eleven values from 1/32 to 32, the paper's grid.
import numpy as np
from matplotlib import pyplot

import latefusion as lf

views, target = lf.datasets.load_digits_views(return_X_y=True)
values = 2.0 ** np.arange(-5, 6)
path = lf.GlobalAlignmentClustering(10, similarity="graph", random_state=0).regularization_path(views, values)

# %%
# Weights of the views, and the adjusted Rand index between the labels and those of λ = 1. The fits do not use the
# classes. Only the dotted line does.
middle = path[5].labels
figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for name, weights in zip(views.names, np.array([point.weights for point in path]).T, strict=True):
    left.semilogx(values, weights, "o-", base=2, label=name)
left.set(xlabel="λ", ylabel="view weight")
left.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
right.semilogx(values, [lf.metrics.adjusted_rand(middle, point.labels) for point in path], "o-", base=2)
right.semilogx(values, [lf.metrics.adjusted_rand(target, point.labels) for point in path], ":", base=2, color="0.5")
right.set(xlabel="λ", ylabel="adjusted Rand index", ylim=(0, 1.05))
right.legend(["with the labels at λ = 1", "with the classes"], frameon=False, loc="lower left")

# %%
# `LocalAlignmentClustering.neighborhood_path` does the same for the size τ of neighbourhoods, and
# `LateFusionClustering` selects λ without classes.
