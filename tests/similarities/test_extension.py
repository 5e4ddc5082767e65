"""Features of coordinates that are compared as they are, and fitters as objects."""

import numpy as np

from latefusion.encoding.coordinates import Unchanged
from latefusion.similarities.extension import FeatureFitter
from latefusion.similarities.factor import FactorExtension


def test_features_of_an_unchanged_view_are_its_coordinates():
    view = np.arange(6.0).reshape(2, 3)
    assert FactorExtension(Unchanged()).features(view) is view


def test_fitters_are_equal_to_themselves_only():
    """They are keys of tables, and may draw random numbers when they fit."""
    one, other = (FeatureFitter(np.arange(3), lambda read, means: read) for _ in range(2))
    assert len({one, other, one}) == 2
