import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from latefusion.plots.canvas import PALETTE, Display, cluster_colors, get_axes, middle_cut, shown_samples, strip


@pytest.mark.parametrize("n_clusters", [1, 10, 25])
def test_every_cluster_has_its_own_colour(n_clusters):
    colors = cluster_colors(n_clusters)
    assert colors.shape == (n_clusters, 4)
    assert len(np.unique(colors.round(4), axis=0)) == n_clusters
    assert len(set(PALETTE)) == 10


def test_given_axes_are_used_and_stripped():
    _, ax = plt.subplots()
    assert get_axes(ax) is ax
    strip(ax)
    assert not ax.spines["top"].get_visible()
    assert get_axes(None) is not ax


def test_without_matplotlib_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from latefusion.plots import ConvergenceDisplay\n"
        "try: ConvergenceDisplay([1.0, 2.0]).plot()\n"
        "except ImportError as error: sys.exit(0 if 'latefusion[plot]' in str(error) else 1)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_display_draws_what_it_takes_of_an_estimator():
    class Dots(Display):
        def __init__(self, values):
            self.values = values

        @classmethod
        def _of(cls, estimator):
            return cls(estimator["values"])

        def _draw(self, ax, options):
            (self.line_,) = ax.plot(self.values, **options)

    _, ax = plt.subplots()
    display = Dots.from_estimator({"values": [1, 2]}, ax=ax, color="red")
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.line_.get_color() == "red"
    assert not ax.spines["right"].get_visible()
    assert Dots([3]).plot().ax_ is not ax
    with pytest.raises(NotImplementedError):
        Display.from_estimator(None)
    with pytest.raises(NotImplementedError):
        Display().plot()


def test_shown_samples_are_all_or_evenly_spaced():
    np.testing.assert_array_equal(shown_samples(5, 9), range(5))
    assert shown_samples(1000, 11).tolist() == [0, 99, 199, 299, 399, 499, 599, 699, 799, 899, 999]


def test_long_names_lose_their_middle():
    assert middle_cut("proteins", 8) == "proteins"
    cut = middle_cut("measurements_of_the_left_ventricle_17", 12)
    assert (len(cut), cut[:6], cut[-5:]) == (12, "measur", "le_17")
