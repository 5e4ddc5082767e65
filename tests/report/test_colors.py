from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import latefusion as lf
from latefusion.interpretation.annotation import category_column
from latefusion.interpretation.effects import model_effects
from latefusion.interpretation.gather import gather
from latefusion.report.colors import MOST_LEVELS, ColorColumn, color_columns, known_columns
from latefusion.report.heatmap import top_features


def columns_of(data, **options):
    effects = model_effects(data)
    return color_columns(data, effects, top_features(effects, len(data.clusters)), **options)


@pytest.fixture(scope="module")
def customers():
    generator = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    adjectives = np.array(["good", "bad", "late"])[group]
    foods = generator.choice(["pizza", "pasta", "salad", "soup"], 90)
    table = pd.DataFrame(
        {
            "region": np.array(["north", "south", "west"])[group],
            "spend": [f"${100 * one + generator.integers(20)}" for one in group],
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(400 * group + generator.integers(0, 30, 90), "D"),
            "review": [f"{adjective} {food}" for adjective, food in zip(adjectives, foods, strict=True)],
        }
    )
    table.loc[3, "region"] = None
    views = {"customers": table, "numbers": pd.DataFrame({"region": generator.normal(size=90) + 5 * group})}
    model = lf.GlobalAlignmentClustering(3, column_kinds={"customers": {"review": "text"}}, random_state=0).fit(views)
    return gather(model, views), table


def test_columns_of_tables_are_as_the_user_knows_them(customers):
    data, table = customers
    found = {(one.group, one.name): one for one in columns_of(data)}
    region = found["customers", "region"]
    words = [None if code < 0 else region.levels[code] for code in region.values]
    assert words == [one if isinstance(one, str) else None for one in table["region"].tolist()]
    spend = found["customers", "spend"]
    np.testing.assert_array_equal(spend.values, [float(one[1:]) for one in table["spend"]])
    assert all(text.strip("\u2264\u2265\u00a0").startswith("$") for text in spend.end_texts)
    since = found["customers", "since"]
    assert since.kind == "date"
    assert "2020-01" in since.end_texts[0]
    assert ("customers", "review") not in found  # text has no order and no few values


def test_the_user_chooses(customers):
    data, _ = customers
    chosen = columns_of(data, color_by=["spend", "numbers: region"])
    assert [(one.group, one.name) for one in chosen] == [("customers", "spend"), ("numbers", "region")]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["age"], "'age', which is not a column. There are columns such as region, spend"),
        (["region"], "the name of several columns. Write one of 'customers: region', 'numbers: region'"),
        (["review"], "a column of text"),
        ("spend", r"must be a list of names of columns; got 'spend'. Write \['spend'\]"),
    ],
)
def test_names_that_cannot_be_used(customers, names, message):
    with pytest.raises(ValueError, match=message):
        columns_of(customers[0], color_by=names)


def test_annotation_comes_first(customers):
    data, _ = customers
    known = category_column("type", ["a", "b", None] * 30)
    first = columns_of(data, known=known_columns([known]))[0]
    assert (first.group, first.name, first.levels) == ("annotation", "type", ("a", "b"))
    np.testing.assert_array_equal(first.values, [0, 1, -1] * 30)


def test_outcomes_are_colours(customers):
    """Also times and events, and a column that the user names comes first."""
    data, _ = customers
    generator = np.random.default_rng(0)
    time, event = generator.exponential(9, 90).round(1), generator.random(90) < 0.5
    time[4] = np.nan
    clinic = {"OS.time": time, "OS": event, "age": np.arange(90.0) % 7, "region": ["a", "b", None] * 30}
    found = lf.outcome(data.labels, clinic, n_permutations=9)
    known = known_columns([category_column("type", ["a", "b", None] * 30)], found.table)
    columns = {one.name: one for one in known}
    assert [(one.group, one.name) for one in known] == [
        ("annotation", "type"), *(("outcome", name) for name in clinic),
    ]  # fmt: skip
    np.testing.assert_array_equal(columns["OS.time"].values, time)
    words = [columns["OS"].levels[code] for code in columns["OS"].values[np.arange(90) != 4]]
    assert words == [("no event", "event")[one] for one in event[np.arange(90) != 4].astype(int)]
    assert columns["OS"].values[4] == -1
    np.testing.assert_array_equal(columns["region"].values, [0, 1, -1] * 30)
    chosen = columns_of(data, known=known, color_by=["outcome: region", "spend"])
    assert [one.name for one in chosen] == ["region", "spend", "type", "OS.time", "OS", "age"]
    with pytest.raises(ValueError, match="'outcome: region', 'customers: region', 'numbers: region'"):
        columns_of(data, known=known, color_by=["region"])


def test_memberships_are_a_colour(gathered):
    membership = np.linspace(0.3, 1, 90)
    (column,) = known_columns(membership=membership)
    assert (column.group, column.name, column.kind) == ("memberships", "membership", "number")
    np.testing.assert_array_equal(column.values, membership)


def test_values_of_missing_views_are_missing_and_sparse_views_are_read(incomplete):
    first = incomplete.views[0]
    expected = np.where(first.observed, first.array[:, 1], np.nan)
    for view in (first, replace(first, array=csr_array(first.array))):
        data = replace(incomplete, views=[view, *incomplete.views[1:]])
        (column,) = columns_of(data, color_by=["view_0: column 1"])
        np.testing.assert_array_equal(column.values, expected)


def test_columns_of_equal_names_are_told_apart(gathered):
    """The values are those of the feature with the large effect, not of another one of the same name."""
    first = replace(gathered.views[0], columns=["x"] * 4)
    data = replace(gathered, views=[first])
    effects = model_effects(data)
    top = top_features(effects, 3)
    (column,) = color_columns(data, effects, top[:1])
    np.testing.assert_array_equal(column.values, first.array[:, top[0].feature])


def test_rare_categories_share_a_colour():
    values = np.concatenate([np.repeat(np.arange(60), 2), np.zeros(5, dtype=int), [-1]])
    data_column = category_column("many", [None if one < 0 else f"class {one:02}" for one in values])
    (found,) = known_columns([data_column])
    assert len(found.levels) == MOST_LEVELS
    assert found.levels[-1] == "other (21 categories)"
    assert found.levels[found.values[0]] == "class 00"
    assert found.values[-1] == -1
    assert (found.values == MOST_LEVELS - 1).sum() == 42


def test_the_scale_covers_most_values_and_says_what_is_beyond():
    values = np.concatenate([np.linspace(0, 1, 100), [1e6]])
    column = ColorColumn("v", "c", "number", values)
    assert column.ends[1] < 2
    assert column.end_texts[1].startswith("\u2265")
    constant = ColorColumn("v", "c", "number", np.full(5, 3.0))
    assert constant.ends == (3.0, 3.0)
    assert constant.end_texts == ("3", "3")
    assert ColorColumn("v", "c", "number", np.full(5, np.nan)).ends == (0.0, 0.0)
