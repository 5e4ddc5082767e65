"""
Customers in ordinary tables
============================

A shop has three files about its customers: what they are and buy, how they answered a survey, and what they wrote. The
columns are words, dates, amounts of money, shares, free text and numbers, cells are empty, and no file contains all
customers. Which groups of customers are there, and what describes each of them?

The data are simulated with four groups, so that the result can be checked at the end.
"""

# %%
# The files
# ---------
# The simulation writes files as people export them: semicolons and decimal commas in one, currency signs in another.
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import latefusion as lf
from latefusion.interpretation import features_of
from latefusion.plots import ViewWeightsDisplay
from latefusion.report import write_report

generator = np.random.default_rng(0)
n = 600
group = generator.integers(0, 4, n)
ids = np.array([f"C{number:04}" for number in generator.permutation(9000)[:n]])


def mostly(values, noise):
    """The value of the group of each customer, replaced by a random one in a share of the rows."""
    values = np.array(values)
    return np.where(generator.random(n) < noise, values[generator.integers(0, 4, n)], values[group])


def with_gaps(column, share):
    """A column in which some cells are empty."""
    column = pd.Series(column, index=ids, dtype=object)
    column[generator.random(n) < share] = None
    return column


phrases = [
    ["fast delivery", "great price", "arrived early", "easy to order", "cheap and good"],
    ["poor quality", "wrong size", "had to return it", "colour is off", "broke after a week"],
    ["lovely gift", "beautiful wrapping", "my mother was happy", "nice card", "a real surprise"],
    ["good for the office", "need an invoice", "ordered for the team", "bulk order", "works in our printer"],
]
customers = pd.DataFrame(
    {
        "region": with_gaps(mostly(["north", "south", "north", "capital"], 0.3), 0.05),
        "since": pd.Timestamp("2019-01-01")
        + pd.to_timedelta(np.array([900, 300, 600, 100])[group] + generator.integers(0, 400, n), "D"),
        "spend": [f"${value:,.2f}" for value in np.exp(np.array([4, 4.5, 5, 7])[group] + generator.normal(0, 0.6, n))],
        "returns": with_gaps(
            [f"{value:.0f} %" for value in np.clip(mostly([5, 45, 10, 8], 0.2) + generator.normal(0, 6, n), 0, 99)], 0.1
        ),
        "currency": "USD",
    },
    index=pd.Index(ids, name="customer"),
)
survey = pd.DataFrame(
    {
        "age": with_gaps(np.round(np.array([28, 35, 55, 45])[group] + generator.normal(0, 8, n)), 0.15),
        "satisfied": with_gaps(mostly(["very", "not", "very", "somewhat"], 0.25), 0.1),
        "channel": mostly(["app", "app", "letter", "phone"], 0.35),
    },
    index=pd.Index(ids, name="customer"),
).sample(520, random_state=0)
reviews = pd.DataFrame(
    {"review": [", ".join(generator.choice(phrases[one], 3, replace=False)) for one in group]},
    index=pd.Index(ids, name="customer"),
).sample(400, random_state=1)
folder = Path(tempfile.mkdtemp())
customers.to_csv(folder / "customers.csv")
survey.to_csv(folder / "survey.csv", sep=";", decimal=",")
reviews.to_csv(folder / "reviews.csv")
print((folder / "customers.csv").read_text()[:230])

# %%
# From files to groups
# --------------------
# The same as ``latefusion cluster customers.csv survey.csv reviews.csv -k 4 --report page.html`` on the command line.
data = lf.datasets.load_files([folder / name for name in ("customers.csv", "survey.csv", "reviews.csv")])
with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always")
    model = lf.LateFusionClustering(4, random_state=0).fit(data.views)
for note in notes:
    print(note.message)

# %%
# How every column was understood. ``column_kinds={"age": "category"}`` would change it.
for view, kinds in model.column_kinds_.items():
    print(view, kinds)

# %%
# What describes a group
# ----------------------
# In the words and units of the tables: medians of amounts and dates, shares of categories and of texts with a word.
for cluster in range(4):
    print(f"\nCluster {cluster}: {np.sum(model.labels_ == cluster)} customers")
    for feature in features_of(model, data.views, cluster, most=5):
        print("  ", feature)

# %%
# Which file matters
# ------------------
# The bars are the weights of the files in the consensus, the dots their agreement with it.
figure = ViewWeightsDisplay.from_estimator(model).figure_
figure.set_size_inches(6, 2.4)

# %%
# New customers
# -------------
# A new customer may have unknown categories, empty cells, and be absent from files.
new = {
    "customers": pd.DataFrame(
        {
            "region": ["overseas", "capital"],
            "since": ["2019-03-01", None],
            "spend": ["$1,450.00", "$95"],
            "returns": "6 %",
        },
        index=["X1", "X2"],
    ).assign(currency="USD"),
    "survey": pd.DataFrame({"age": [47], "satisfied": ["somewhat"], "channel": ["phone"]}, index=["X1"]),
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(lf.labels_frame(model, new, new=True))

# %%
# The report
# ----------
# One page with maps, profiles, confidence and the importance of the files.
page = write_report(model, data.views, folder / "page.html", explain=False, baselines=False, embedding="pca")
print(f"{page.name}: {page.stat().st_size / 1024:.0f} kB")

# %%
# Comparison with the simulation
# ------------------------------
truth = pd.Series(group, index=ids)[data.views.sample_ids]
print(pd.crosstab(truth.to_numpy(), model.labels_, rownames=["group"], colnames=["cluster"]))
print(f"adjusted Rand index: {lf.metrics.adjusted_rand(truth.to_numpy(), model.labels_):.3f}")
