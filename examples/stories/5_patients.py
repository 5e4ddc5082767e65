"""
Patients: subtypes and survival
===============================

Three tables of the same patients: gene expression, proteins and methylation. Two of four subtypes, C and D, look the
same in expression and methylation. Only the proteins separate them, and the prognosis of C is worse. This page goes
from the files to subtypes, to the features that describe them, to a test of survival and to a report that can be sent
to a colleague.

The data are simulated, so that the truth is known. It is used only at the end.
"""

# %%
# The files
# ---------
# The laboratories send one file each, in their own order. The follow-up comes from the clinic. It has no row for some
# patients, and it is not used to find the subtypes.
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import latefusion as lf
from latefusion.plots import SurvivalDisplay, ViewWeightsDisplay
from latefusion.report import write_report

# sphinx_gallery_thumbnail_number = 2
N_PATIENTS, C, D = 300, 2, 3
simulated = lf.datasets.make_views(N_PATIENTS, 4, n_views=3, n_features=12, separation=5.0, random_state=0)
kind = simulated.target
patients = pd.Index([f"patient {number:03}" for number in range(N_PATIENTS)], name="patient")
subtype = pd.Series(np.array(["A", "B", "C", "D"])[kind], index=patients, name="subtype")
generator = np.random.default_rng(0)

folder = Path(tempfile.mkdtemp())
features = {"expression": "gene", "proteins": "protein", "methylation": "site"}
for (name, feature), array in zip(features.items(), simulated.views.arrays, strict=True):
    if name != "proteins":  # C gets the mean of D
        array[kind == C] += array[kind == D].mean(axis=0) - array[kind == C].mean(axis=0)
    table = pd.DataFrame(array, index=patients, columns=[f"{feature} {number}" for number in range(12)])
    table.sample(frac=1.0, random_state=generator.integers(1000)).round(3).to_csv(folder / f"{name}.csv")

hazard = np.where(kind == C, 3.0, 1.0)
died, last_seen = generator.exponential(900 / hazard), generator.uniform(200, 2000, N_PATIENTS)
clinic = pd.DataFrame(
    {
        "time": np.minimum(died, last_seen).round().clip(1),
        "event": (died <= last_seen).astype(int),
        "age": generator.normal(60, 10, N_PATIENTS).round(),
        "stage": generator.choice(["I", "II", "III"], N_PATIENTS),
    },
    index=patients,
)
clinic.sample(280, random_state=0).to_csv(folder / "clinic.csv")
files = [folder / f"{name}.csv" for name in features]
print(*(file.name for file in [*files, folder / "clinic.csv"]))

# %%
# Subtypes
# --------
# Every file is a view with the name of the file. Rows are matched by the column ``patient``. Four subtypes are
# expected.
views = {file.stem: pd.read_csv(file, index_col="patient") for file in files}
model = lf.LateFusionClustering(4, random_state=0).fit(views)
print(model.summary())

# %%
# Without this expectation three clusters would be chosen, because two of three tables do not separate C and D. Choose
# the number before you look at survival: the smallest p-value of several numbers is small by chance.
automatic = lf.LateFusionClustering(range(2, 7), random_state=0).fit(views)
print(automatic.number_selection_.reason)

# %%
# The weights of the tables:
display = ViewWeightsDisplay.from_estimator(model)
display.figure_.set_size_inches(6, 2.4)

# %%
# What describes them
# -------------------
# The features with the largest differences between a cluster and all other patients. The p-values are too small,
# because the same features were used to find the clusters; the note below the table says so. Effects are descriptions.
profiles = lf.profiles(model, views)
profiles.top(3)

# %%
# Do they matter?
# ---------------
# Survival was not used to find the clusters, so this test is valid. Times and events are recognized by their names.
clinic = pd.read_csv(folder / "clinic.csv", index_col="patient")
outcome = lf.outcome(model, clinic, views=views)
outcome

# %%
# One cluster has a higher risk than all others:
worst = max(outcome.survival.hazard_ratios, key=lambda cluster: outcome.survival.hazard_ratios[cluster].ratio)
print(worst, outcome.survival.hazard_ratios[worst])
SurvivalDisplay.from_outcome(outcome)

# %%
# The table "Does fusion help?" has the same test for each view alone, with the same number of clusters. Expression and
# methylation do not separate C and D, so the high risk of C is mixed with the usual one of D:
alone = {}
for view, labels in zip(views, model.view_labels().T, strict=True):
    ratios = lf.outcome(pd.Series(labels, index=model.sample_ids_), clinic).survival.hazard_ratios
    alone[view] = max(ratio.ratio for ratio in ratios.values())
    print(f"{view}: the highest hazard ratio is {alone[view]:.2f}")

# %%
# The proteins alone show it as well, but which table would was not known before.

# %%
# A report
# --------
# One page with everything above: effects of features as a heatmap, survival curves with numbers at risk, maps that can
# be coloured by any column. A reader can give names to the clusters and save them with the labels. ``annotation`` is
# what is known about the patients, here the true subtypes.
known = pd.DataFrame({"subtype": subtype, "age": clinic["age"].reindex(subtype.index)})
page = write_report(
    model,
    views,
    folder / "report.html",
    annotation=known,
    outcome=outcome,
    files=[file.name for file in files],
    title="Subtypes of 300 patients",
    embedding="pca",
)
print(f"{page.name}: {page.stat().st_size / 1024:.0f} kB")

# %%
# The same from a shell::
#
#     latefusion cluster expression.csv proteins.csv methylation.csv --outcome clinic.csv --report report.html
#
# The clusters are the simulated subtypes:
table = lf.interpretation.class_table(model, subtype)
print(table)

# %%
# The files were written for this page only.
for file in folder.iterdir():
    file.unlink()
folder.rmdir()
