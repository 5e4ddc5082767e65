"""Parameters of the search."""

from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection.cluster_number import LEAST_CLUSTER


@pytest.fixture(scope="module")
def options():
    data = lf.datasets.make_views(60, 3, random_state=0)
    return lf.LateFusionClustering(3, random_state=0).fit(data.views)._state.options


def test_numbers_of_clusters_are_limited_by_the_samples(options):
    asked = replace(options, n_clusters="auto", numbers=list(range(2, 21)))
    found = asked.numbers_for(60)
    assert found == list(range(2, max(found) + 1))
    assert max(found) == 60 // (2 * LEAST_CLUSTER)
    # Numbers that a user has listed are only limited by what halves of the samples can have.
    assert replace(asked, n_clusters=[2, 25, 31], numbers=[2, 25, 31]).numbers_for(60) == [2, 25]


def test_there_is_always_a_number_to_try(options):
    assert replace(options, n_clusters=[50], numbers=[50]).numbers_for(60) == [50]


def test_auto_assigns_as_k_means_where_there_is_no_choice(options):
    rows = np.random.default_rng(0).standard_normal((60, 3))
    np.testing.assert_array_equal(
        replace(options, assign_labels="auto").assign(rows, 3)[0], options.assign(rows, 3, assign_labels="kmeans")[0]
    )
