"""Rules and schemas of the input."""

import numpy as np
import pytest

from latefusion.encoding.gaps import KeptGaps, SparseFilling
from latefusion.validation import InputRules, InputSchema, ViewSchema
from latefusion.validation.schema import feature_names


def test_kinds_of_columns_hold_for_all_views_or_for_one():
    rules = InputRules("Any", column_kinds={"zip": "category", "clinic": {"stage": ["I", "II"], "zip": "number"}})
    assert rules.kinds_of("orders") == {"zip": "category"}
    assert rules.kinds_of("clinic") == {"zip": "number", "stage": ["I", "II"]}
    assert InputRules("Any").kinds_of("clinic") == {}


def test_a_schema_lists_the_properties_of_its_views():
    schema = InputSchema((ViewSchema("a", "features", 3, 3), ViewSchema("b", "table", 2, 7)), 10, "NumPy", np.float64)
    assert schema.names == ("a", "b")
    assert schema.kinds == ("features", "table")
    assert schema.widths == (3, 2)
    assert schema.n_features == 5


@pytest.mark.parametrize(("columns", "expected"), [(["a", "b"], ["a", "b"]), (["a", 1], None), ([0, 1], None)])
def test_names_of_features_are_text(columns, expected):
    found = feature_names(columns)
    assert (None if found is None else found.tolist()) == expected


def test_gaps_are_kept_where_they_are_allowed():
    views = (ViewSchema("a", "features", gaps=SparseFilling(np.zeros(2))), ViewSchema("b", "precomputed"))
    schema = InputSchema(views, 10, "NumPy", np.float64)
    assert [view.gaps for view in schema.keeping_gaps().views] == [KeptGaps(), None]
    assert schema.views == views
