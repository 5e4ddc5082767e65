"""
How many clusters?
==================

``n_clusters="auto"`` tries 2 to 20, a range or list tries its numbers. The selected number has stable clusters with
high information about neighbouring samples. If clusters are not stable, or the data have none, a warning is issued.
"""

# %%
# Five planted clusters.
import warnings

import latefusion as lf
from latefusion.plots import ClusterTreeDisplay, NumberOfClustersDisplay

data = lf.datasets.make_views(300, 5, random_state=0)
model = lf.LateFusionClustering(n_clusters=range(2, 9), random_state=0).fit(data.views)
print(model.number_selection_.reason)

# %%
# Stability is the adjusted Rand index between clusterings from different halves of the samples. Information is the
# mutual information between the clusters of neighbouring samples. The dotted line is the stability of a cloud of the
# same shape without clusters.
NumberOfClustersDisplay.from_estimator(model)

# %%
# How do the clusters split? The path clusters the samples with other numbers, too. A cluster keeps its id as long as it
# is the largest part of the cluster that it comes from. The labels for the selected number are those of the model.
path = model.n_clusters_path(range(2, 7))
print(path)
ClusterTreeDisplay.from_estimator(model, numbers=range(2, 7))

# %%
# The selected number can be wrong. Here every view shows only some of the five clusters. Clusterings of different
# halves do not agree on all of them, and a smaller number is selected. How often the number is right on real data is
# measured in :doc:`/SELECTION`.
hard = lf.datasets.make_views(300, 5, n_views=4, complementary=True, random_state=0)
harder = lf.LateFusionClustering(n_clusters=range(2, 9), random_state=0).fit(hard.views)
print(harder.number_selection_.reason)

# %%
# Data without clusters also get a clustering, of few clusters and with a warning.
noise = lf.datasets.make_views(200, 5, separation=0.0, random_state=0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    lf.LateFusionClustering(n_clusters=range(2, 5), random_state=0).fit(noise.views)
print(caught[0].message)
