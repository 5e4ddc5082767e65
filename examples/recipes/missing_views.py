"""
Missing views
=============

Half of all measurements are missing, and no sample is dropped. Missing views are given as rows of NaN, as a mask, or by
ids that are not in every table.
"""

# %%
# Digits in five views. Each view of a sample is missing with a probability of one half, but every sample keeps one.
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
# This is one random draw; :doc:`/MISSING` has means over several draws, data sets and rates.
#
# The combinations of observed views: dots show the views, bars the number of samples.
MissingViewsDisplay.from_estimator(model)

# %%
# Samples with fewer views have a lower confidence. Compare it with the share of samples with the right label:
matched = lf.metrics.match_labels(target, model.labels_)
figure, axes = pyplot.subplots(figsize=(6, 3), layout="constrained")
seen = np.arange(1, 6)
axes.plot(seen, [model.confidence_[model.n_observed_views_ == n].mean() for n in seen], "o-", label="confidence")
axes.plot(seen, [(matched == target)[model.n_observed_views_ == n].mean() for n in seen], "s--", label="right label")
axes.set(xlabel="views that a sample has", ylim=(0, 1), xticks=seen)
axes.legend(frameon=False)

# %%
# New samples may have any of the views.
print(model.predict({"pixels": data.views.arrays[0][600:605], "strokes": data.views.arrays[4][600:605]}))
