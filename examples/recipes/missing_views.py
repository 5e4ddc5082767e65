"""
Samples that lack views
=======================

Half of all measurements are missing, and no sample is dropped. Holes are rows of NaN, a mask, or ids that are not in
every table.
"""

# %%
# Digits seen in five ways; every sample loses each view with a probability of one half, but keeps at least one.
import numpy as np
from matplotlib import pyplot

import latefusion as lf
from latefusion.plots import MissingViewsDisplay

data = lf.datasets.load_digits_views()
views, target = data.views[:600], data.target[:600]
generator = np.random.default_rng(0)
mask = generator.random((600, 5)) > 0.5
mask[np.arange(600), generator.integers(5, size=600)] = True

model = lf.LateFusionClustering(10, random_state=0).fit(lf.Views(views.arrays, views.names, mask=mask))
complete = lf.LateFusionClustering(10, random_state=0).fit(views)
for name, one in {"all views": complete, f"{1 - mask.mean():.0%} missing": model}.items():
    print(f"{name:12} accuracy {lf.metrics.clustering_accuracy(target, one.labels_):.3f}")

# %%
# One draw of holes says little; :doc:`/MISSING` has the means over many, for several data sets and rates.
#
# Which combinations of views samples have; dots say which, bars how many.
MissingViewsDisplay.from_estimator(model)

# %%
# The fewer views a sample has, the less is claimed about it. Is that deserved? Shares of samples with the right label:
matched = lf.metrics.match_labels(target, model.labels_)
figure, axes = pyplot.subplots(figsize=(6, 3), layout="constrained")
seen = np.arange(1, 6)
axes.plot(seen, [model.confidence_[model.n_observed_views_ == n].mean() for n in seen], "o-", label="confidence")
axes.plot(seen, [(matched == target)[model.n_observed_views_ == n].mean() for n in seen], "s--", label="right label")
axes.set(xlabel="views that a sample has", ylim=(0, 1), xticks=seen)
axes.legend(frameon=False)

# %%
# New samples may come with any of the views.
print(model.predict({"pixels": data.views.arrays[0][600:605], "strokes": data.views.arrays[4][600:605]}))
