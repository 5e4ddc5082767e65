"""Properties of clustering tables: columns, names of categories and units do not matter, and predict repeats fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from tests.properties import examples

N = 60


def make_table(seed):
    """A table with three clusters in columns of all kinds, and gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, N)
    likely = np.array(["red", "green", "blue"])[group]
    table = pd.DataFrame(
        {
            "length": rng.normal(0, 0.4, N) + group,
            "weight": [f"{value:.2f} kg" for value in rng.normal(0, 0.5, N) + 3 * group + 50],
            "colour": np.where(rng.random(N) < 0.8, likely, rng.choice(["red", "green", "blue"], N)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(group * 100 + rng.integers(0, 60, N), "D"),
        }
    )
    return table.mask(rng.random(table.shape) < 0.05), group


def labels_of(method, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return method(3, random_state=0).fit({"table": table, "other": table[["length", "day"]]}).labels_


METHODS = [lf.GlobalAlignmentClustering, lf.LateFusionClustering]


@pytest.mark.parametrize("method", METHODS)
@examples(12)
@given(seed=st.integers(0, 30), data=st.data())
def test_nothing_depends_on_the_order_of_columns_the_names_of_categories_and_units(method, seed, data):
    table, _ = make_table(seed)
    expected = labels_of(method, table)
    order = data.draw(st.permutations(list(table.columns)))
    names = dict(zip(["red", "green", "blue"], data.draw(st.permutations(["x", "Zebra", "10 cm"])), strict=True))
    scale = data.draw(st.floats(0.01, 100))
    changed = table[order].assign(colour=table["colour"].map(names), length=table["length"] * scale + 7)
    assert lf.metrics.adjusted_rand(labels_of(method, changed), expected) == 1.0


@pytest.mark.parametrize("method", METHODS)
@examples(12)
@given(seed=st.integers(0, 30))
def test_training_samples_are_predicted_as_they_were_labeled(method, seed):
    table, _ = make_table(seed)
    views = {"table": table, "other": table[["length", "colour"]]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method(3, random_state=0).fit(views)
        np.testing.assert_array_equal(model.predict(views), model.labels_)


VALUES = st.one_of(
    st.none(), st.text(max_size=8), st.integers(-1000, 1000), st.floats(allow_infinity=False), st.booleans(), st.dates()
)


@examples(60)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=6, max_size=15))
def test_any_table_is_clustered_or_refused_with_its_view(rows):
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype=object)
    steady = pd.DataFrame({"x": np.arange(len(rows)) % 3 + 0.1 * np.arange(len(rows))})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = None
        try:
            model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"odd": frame, "steady": steady})
        except ValueError as error:
            problem = str(error)
        assert problem is None or "odd" in problem
        if problem is None:
            np.testing.assert_array_equal(model.predict({"odd": frame, "steady": steady}), model.labels_)
