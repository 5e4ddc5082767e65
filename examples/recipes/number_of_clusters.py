"""
How many clusters?
==================

``n_clusters="auto"`` tries 2 to 20, a range or list tries what is in it. What wins must be found again in other samples
*and* say much about the data; where there are no clusters, a warning says so.
"""

# %%
# Five planted clusters.
import warnings

import latefusion as lf
from latefusion.plots import NumberOfClustersDisplay

data = lf.datasets.make_views(300, 5, random_state=0)
model = lf.LateFusionClustering(n_clusters=range(2, 9), random_state=0).fit(data.views)
print(model.number_selection_.reason)

# %%
# Stability is the adjusted Rand index between clusterings of different halves of the samples; information is what
# clusters say about neighbouring samples. The dotted line is the stability of a cloud of the same shape that has no
# clusters.
NumberOfClustersDisplay.from_estimator(model)

# %%
# It can be wrong. Here every view shows only some of the five clusters, so that no two halves of the samples agree on
# all of them, and fewer are found. How often the number is right on real data is measured in :doc:`/SELECTION`.
hard = lf.datasets.make_views(300, 5, n_views=4, complementary=True, random_state=0)
harder = lf.LateFusionClustering(n_clusters=range(2, 9), random_state=0).fit(hard.views)
print(harder.number_selection_.reason)

# %%
# Nothing but noise: there is an answer all the same, and a warning that it should not be believed.
noise = lf.datasets.make_views(200, 5, separation=0.0, random_state=0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    lf.LateFusionClustering(n_clusters=range(2, 5), random_state=0).fit(noise.views)
print(caught[0].message)
