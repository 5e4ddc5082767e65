"""One view of any kind becomes finite numbers, in the same way for training samples and new ones."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from latefusion.encoding.label_coding import LabelCoding
from latefusion.validation import InputRules, ViewSchema
from latefusion.validation.sample_ids import Coordinates
from latefusion.validation.single_view import read_view

NUMBERS = np.random.default_rng(0).standard_normal((30, 4))
GAPS = np.where(np.random.default_rng(1).random((30, 4)) < 0.1, np.nan, NUMBERS)
TABLE = pd.DataFrame({"amount": NUMBERS[:, 0], "color": ["red", "green", "blue"] * 10})
WORDS = np.array(["a", "b", "c"] * 10)
VIEWS = {
    "numbers": (NUMBERS, ViewSchema("v", "features", 4)),
    "gaps": (GAPS, ViewSchema("v", "features", 4)),
    "sparse": (sp.csr_array(NUMBERS * (NUMBERS > 0)), ViewSchema("v", "features", 4)),
    "table": (TABLE, ViewSchema("v", "table", 2, columns=list(TABLE))),
    "transformer": (NUMBERS, ViewSchema("v", "features", 4, transformer=StandardScaler())),
    "labels": (WORDS, ViewSchema("v", "labels", 0, labels=LabelCoding(np.unique(WORDS), None))),
}


def read(view, schema, *, is_training, **rules):
    return read_view(
        view, schema, InputRules("Model", **rules), None, Coordinates(), is_training=is_training, kernel_columns=None
    )


def dense(array):
    return array.toarray() if sp.issparse(array) else array


@pytest.mark.parametrize("kind", VIEWS)
def test_training_samples_are_finite_and_read_again_as_the_same_numbers(kind):
    view, schema = VIEWS[kind]
    array, observed, fitted = read(view, schema, is_training=True)
    again, _, unchanged = read(view, fitted, is_training=False)
    assert observed is None
    assert np.all(np.isfinite(dense(array)))
    np.testing.assert_array_equal(dense(again), dense(array))
    assert unchanged is fitted


@pytest.mark.parametrize("kind", ["numbers", "gaps", "table", "transformer"])
def test_a_new_sample_does_not_depend_on_the_others(kind):
    view, schema = VIEWS[kind]
    array, _, fitted = read(view, schema, is_training=True)
    np.testing.assert_allclose(read(view[7:8], fitted, is_training=False)[0], array[7:8], rtol=1e-12)


def test_values_that_mark_missing_ones_are_read_as_gaps():
    expected = read(GAPS, VIEWS["gaps"][1], is_training=True)[0]
    marked = np.where(np.isnan(GAPS), -99.0, GAPS)
    found = read(marked, VIEWS["gaps"][1], is_training=True, missing_values=-99.0)[0]
    np.testing.assert_array_equal(found, expected)


def test_rows_without_values_are_zero_and_not_observed():
    view = NUMBERS.copy()
    view[3] = np.nan
    array, observed, _ = read(view, VIEWS["numbers"][1], is_training=True)
    assert np.flatnonzero(~observed).tolist() == [3]
    assert np.all(array[3] == 0)


def test_new_samples_have_the_number_of_columns_of_the_training_samples():
    with pytest.raises(ValueError, match="'v' has 3 columns, but Model was fitted on 4"):
        read(NUMBERS[:, :3], VIEWS["numbers"][1], is_training=False)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("is_training", [True, False])
def test_only_nan_is_a_missing_value(value, is_training):
    fitted = read(GAPS, VIEWS["gaps"][1], is_training=True)[2]
    view = GAPS.copy()
    view[3, 2] = value
    with pytest.raises(ValueError, match=r"'v' .*infinite.* row 3, column 2"):
        read(view, fitted, is_training=is_training)


def test_a_view_without_values_is_observed_for_no_sample():
    array, observed, fitted = read(np.full((3, 4), np.nan), VIEWS["numbers"][1], is_training=True)
    assert not observed.any()
    assert not array.any()
    assert fitted.gaps is None
