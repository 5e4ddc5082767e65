"""The path holds its points and computes sample-sized results once, when asked."""

import numpy as np

import latefusion as lf


def test_points_are_lazy_and_cached():
    data = lf.datasets.make_views(60, 3, random_state=0)
    path = lf.GlobalAlignmentClustering(3, random_state=0).regularization_path(data.views, [0.5, 2.0])
    point = path[0]
    assert "consensus" not in vars(point)
    assert point.consensus is point.consensus
    np.testing.assert_array_equal(path.labels[1], path[1].labels)
    assert list(path.regularizations) == [0.5, 2.0]
    assert path.objectives[1] > path.objectives[0]
    assert "regularization=0.5" in repr(point)
