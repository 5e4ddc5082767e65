"""
An HTML report
==============

One HTML file that opens offline in any browser: number of clusters, confidence and novelty, importance of the views,
linked maps, cluster profiles, baselines, and code that reproduces it.
"""

# %%
# The report of a fitted model. The page does not use the network, and names from the data are shown as text. The
# argument ``loading`` is the code that defines the views: with it, the code under "How to reproduce" runs as it stands.
import tempfile
from pathlib import Path

import latefusion as lf
from latefusion.plots import ViewWeightsDisplay
from latefusion.report import write_report

data = lf.datasets.load_breast_cancer_views()
model = lf.LateFusionClustering(2, random_state=0).fit(data.views)
with tempfile.TemporaryDirectory() as folder:
    loading = "views = lf.datasets.load_breast_cancer_views().views"
    path = write_report(model, data.views, Path(folder) / "report.html", embedding="pca", loading=loading)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")

# %%
# The same from files, without Python: ``latefusion cluster a.csv b.csv -k 2 --report report.html``.
#
# `The report of the digits <../../_static/report.html>`__ is part of these pages.
#
# The results of the report are also available as objects. The effect of leaving out each view:
for verdict in model.leave_one_view_out():
    print(verdict)

# %%
# Weights of the views with 95 % intervals of a bootstrap over samples:
figure = ViewWeightsDisplay.from_estimator(model, intervals=True).figure_
figure.set_size_inches(6, 2.4)
