import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from latefusion.plots.canvas import PALETTE, cluster_colors, get_axes, strip


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
