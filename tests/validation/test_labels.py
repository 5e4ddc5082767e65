"""Views of labels among others: found where they are meant, coded alike later."""

import numpy as np
import pandas as pd
import pytest

from latefusion import GivenPartition
from latefusion.encoding.label_coding import LabelCoding
from latefusion.validation.labels import label_codes, label_coding

FEATURES = np.arange(8.0).reshape(4, 2)
NUMBERS = np.array([0, 1, 1, -1])
TEXT = ["b", "a", "b", None]


@pytest.mark.parametrize(
    ("view", "spec", "found"),
    [
        (FEATURES, "auto", False),
        (FEATURES, GivenPartition(), False),
        (TEXT, "auto", True),
        (TEXT, "kernel", True),
        (NUMBERS, "auto", False),
        (NUMBERS, "labels", True),
        (NUMBERS, GivenPartition(), True),
        (pd.DataFrame({"leiden": TEXT}), "labels", True),
        (pd.Series(TEXT, dtype="category"), "auto", True),
    ],
)
def test_labels_are_found_by_word_object_or_type(view, spec, found):
    assert (label_coding(view, spec, "v") is not None) is found


def test_labels_become_a_column_of_numbers():
    coding = label_coding(TEXT, "auto", "t")
    for view in (TEXT, np.array(TEXT, dtype=object), pd.Series(TEXT), pd.DataFrame({"leiden": TEXT})):
        np.testing.assert_array_equal(label_codes(view, coding, "t"), [[1.0], [0.0], [1.0], [-1.0]])
    np.testing.assert_array_equal(label_codes(["a"], coding, "t"), [[0.0]])


def test_unassigned_labels_of_a_given_partition():
    coding = label_coding(["x", "y", "?"], GivenPartition("labels", unassigned="?"), "t")
    np.testing.assert_array_equal(label_codes(["?", "y"], coding, "t"), [[-1.0], [1.0]])


def test_errors_name_the_view_and_the_sample():
    with pytest.raises(ValueError, match="View 't' has only the cluster 'a'"):
        label_coding(["a", "a"], "auto", "t")
    series = pd.Series(["b", "z"], index=["s3", "s0"])
    with pytest.raises(ValueError, match=r"View 't' has the label 'z' \(sample 's0'\)"):
        label_codes(series, LabelCoding.of(["a", "b", "b"], "t"), "t")
