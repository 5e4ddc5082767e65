"""
A report to pass on
===================

One HTML file that opens offline in any browser: how many clusters, how sure, which views matter, linked maps, what sets
each cluster apart, plain methods beside ours, and how to reproduce it.
"""

# %%
# The report of a fitted model. Nothing is fetched when it is opened, and names from the data are shown as text.
import tempfile
from pathlib import Path

import latefusion as lf
from latefusion.plots import ViewWeightsDisplay
from latefusion.report import write_report

data = lf.datasets.load_breast_cancer_views()
model = lf.LateFusionClustering(2, random_state=0).fit(data.views)
with tempfile.TemporaryDirectory() as folder:
    path = write_report(model, data.views, Path(folder) / "report.html", embedding="pca")
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")

# %%
# The same from files, without Python: ``latefusion cluster a.csv b.csv -k 2 --report report.html``.
#
# `The report of the digits <../../_static/report.html>`__ is part of these pages.
#
# What the report says in words is also at hand as objects. What would be without each view:
for verdict in model.leave_one_view_out():
    print(verdict)

# %%
# And how sure the weights are; the lines are 95 % intervals of a bootstrap over samples:
figure = ViewWeightsDisplay.from_estimator(model, intervals=True).figure_
figure.set_size_inches(6, 2.4)
