import numpy as np

import latefusion as lf
from latefusion.plots import MissingViewsDisplay

MASK = np.array([[1, 1, 0]] * 5 + [[1, 1, 1]] * 7 + [[0, 0, 1]] * 2 + [[1, 0, 0]], dtype=bool)


def test_bars_count_combinations_from_the_most_frequent_down():
    display = MissingViewsDisplay(MASK, "abc").plot()
    assert [bar.get_width() for bar in display.bars_] == [7, 5, 2, 1]
    heights = [bar.get_y() for bar in display.bars_]
    assert heights == sorted(heights, reverse=True)
    np.testing.assert_array_equal(display.combinations[:2], [[1, 1, 1], [1, 1, 0]])
    texts = [text.get_text() for text in display.ax_.texts]
    assert "a (13)" in texts
    assert "5 (33%)" in texts


def test_rare_combinations_share_a_bar():
    display = MissingViewsDisplay(MASK, "abc", most=2).plot()
    assert [bar.get_width() for bar in display.bars_] == [7, 5, 3]
    assert "other combinations" in [text.get_text() for text in display.ax_.texts]


def test_views_and_estimators_are_drawn_alike():
    views = lf.datasets.make_views(60, 3, missing=0.3, random_state=0).views
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    one, other = MissingViewsDisplay.from_views(views), MissingViewsDisplay.from_estimator(model)
    np.testing.assert_array_equal(one.sizes, other.sizes)
    np.testing.assert_array_equal(one.combinations, other.combinations)
    assert one.sizes.sum() == 60


def test_complete_views_have_one_bar(model):
    display = MissingViewsDisplay.from_estimator(model)
    assert display.sizes.tolist() == [60]
