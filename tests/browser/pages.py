"""Pages that several tests open, and what readers do with them."""

from __future__ import annotations

import datetime
from html.parser import HTMLParser

import numpy as np
import pytest

import latefusion as lf
from latefusion.report import write_report

NASTY = "<script>alert(1)</script>"
N_PATIENTS, N_SUBTYPES = 2000, 12


def open_all(page):
    """Unfold all folded parts."""
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def give_names(page, names):
    """Type names of clusters."""
    for cluster, name in names.items():
        page.ask(
            """const input = document.querySelectorAll("input.name")[arguments[0]];
            input.value = arguments[1];
            input.dispatchEvent(new Event("input"));""",
            cluster,
            name,
        )


def option_of(page, name):
    """The value of a column in the list of colours."""
    return page.ask(
        """return Array.from(document.querySelectorAll("#colour option"))
        .find((one) => one.textContent === arguments[0]).value""",
        name,
    )


def patients_tables():
    """Four tables of measurements and a clinical one, annotation and survival, of 2000 patients of 12 subtypes."""
    pandas = pytest.importorskip("pandas")
    generator = np.random.default_rng(0)
    data = lf.datasets.make_views(N_PATIENTS, N_SUBTYPES, n_views=4, n_features=30, separation=6.0, random_state=0)
    ids, kind = [f"patient {one}" for one in range(N_PATIENTS)], data.target
    names = ("rna", "protein", "methylation", "mirna")
    views = {
        name: pandas.DataFrame(array, index=ids, columns=[f"{name} {one}" for one in range(30)])
        for name, array in zip(names, data.views.arrays, strict=True)
    }
    regions = np.array(["north", "south", "east", "west"])
    days = pandas.to_timedelta(generator.integers(0, 900, N_PATIENTS) + 200 * (kind % 5), unit="D")
    views["clinic"] = pandas.DataFrame(
        {
            "sex": generator.choice(["female", "male"], N_PATIENTS),
            "age": np.clip(generator.normal(50 + 2 * kind, 10), 18, 99).round(),
            "income": [f"${one:.0f}" for one in np.exp(generator.normal(10, 0.4, N_PATIENTS) + 0.2 * (kind % 4))],
            "first seen": pandas.to_datetime("2010-01-01") + days,
            "region": regions[(kind + (generator.random(N_PATIENTS) < 0.2)) % 4],
        },
        index=ids,
    )
    known = pandas.DataFrame(
        {
            "subtype": [f"subtype {chr(65 + one)}" for one in kind],
            "purity": generator.random(N_PATIENTS),
            "sampled": pandas.to_datetime("2015-03-01")
            + pandas.to_timedelta(generator.integers(0, 2000, N_PATIENTS), unit="D"),
        },
        index=ids,
    )
    time, end = generator.exponential(1500 / np.exp(0.25 * (kind % 6))), generator.uniform(200, 3000, N_PATIENTS)
    survival = pandas.DataFrame({"time": np.minimum(time, end).round(1), "event": (time <= end).astype(int)}, index=ids)
    return views, known, survival


def write_patients(path):
    """The page, and what it is about: model, views, annotation, outcome."""
    views, known, survival = patients_tables()
    model = lf.GlobalAlignmentClustering(N_SUBTYPES, random_state=0).fit(views)
    outcome = lf.outcome(model, survival, n_permutations=99)
    write_report(
        model,
        views,
        path,
        baselines=False,
        annotation=known.sample(frac=1.0, random_state=0),
        outcome=outcome,
        color_by=["age", "income", "first seen", "region"],
        files=["data/rna.csv", "data/clinic.csv"],
        date=datetime.date(2026, 1, 31),
        embedding="pca",
    )
    return model, views, known, outcome


def write_forty(path):
    """Forty clusters, long names, no ids."""
    pandas = pytest.importorskip("pandas")
    data = lf.datasets.make_views(3000, 40, n_views=2, n_features=12, separation=7.0, random_state=1)
    long = "a long name of a column that describes the measurement in all details (second visit, mg/dl, corrected)"
    views = {
        f"{'view with a long name ' * 3}{place}": pandas.DataFrame(
            array, columns=[f"{long} {one}" for one in range(12)]
        )
        for place, array in enumerate(data.views.arrays)
    }
    model = lf.GlobalAlignmentClustering(40, random_state=0).fit(views)
    generator = np.random.default_rng(0)
    survival = {"time": generator.exponential(5, 3000), "event": generator.random(3000) < 0.7, long: data.target % 5}
    return write_report(
        model,
        views,
        path,
        target=[f"class with a long name {one}" for one in data.target],
        annotation={long: generator.random(3000)},
        outcome=lf.outcome(model, survival, n_permutations=19),
        baselines=False,
        files=["/a/" + "very/" * 30 + "long.csv"] * 3,
        embedding="pca",
    )


def write_two(path):
    """Two clusters that overlap, with hints, memberships, classes and survival."""
    data = lf.datasets.make_views(150, 2, n_views=2, n_features=5, separation=3.0, random_state=0)
    hints = np.where(np.arange(150) % 10 == 0, data.target, -1)
    hints[:2] = 1 - data.target[:2]
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(data.views, hints)
    assert len(model.memberships_) == 150
    generator = np.random.default_rng(0)
    clinic = {"time": generator.exponential(5, 150), "event": generator.random(150) < 0.7}
    outcome = lf.outcome(model, clinic, n_permutations=99)
    write_report(model, data.views, path, target=data.target, outcome=outcome, baselines=False)
    return path, model


class Reader(HTMLParser):
    """Elements with attributes, and words, of a page; how a browser writes them makes no difference."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.tags, self.words = [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(sorted((name, value or "") for name, value in attrs))))

    def handle_data(self, data):
        self.words += data.split()


def write_strange_ids(path):
    """Ids that have to be quoted in a CSV file."""
    data = lf.datasets.make_views(60, 3, n_views=2, n_features=3, separation=7.0, random_state=0)
    ids = [("com,ma", 'quo"te', "line\nbreak", "plain")[one % 4] + f" {one}" for one in range(60)]
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    write_report(model, data.views, path, sample_ids=ids, baselines=False, embedding="pca")
    return path, model, ids
