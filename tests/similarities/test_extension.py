"""The features of coordinates that are compared as they are."""

import numpy as np
import pytest

from latefusion.similarities.extension import LinearFeatures


def test_linear_features_are_the_coordinates():
    view = np.arange(6.0).reshape(2, 3)
    assert LinearFeatures().features(view) is view


def test_linear_features_have_no_neighborhoods():
    with pytest.raises(TypeError, match="no neighborhoods"):
        LinearFeatures().closeness(np.ones((2, 3)))
