"""Views with two clusterings, of which a clustering without hints finds the one of most views."""

from typing import NamedTuple

import numpy as np

import latefusion as lf


class TwoClusterings(NamedTuple):
    """Views, the clusters of three of them, and those of two others."""

    views: lf.Views
    common: np.ndarray
    hidden: np.ndarray

    def hints(self, n_hints, seed=0):
        """Hidden clusters of some samples, -1 for the others."""
        rows = np.random.default_rng(seed).permutation(len(self.hidden))[:n_hints]
        known = np.full(len(self.hidden), -1)
        known[rows] = self.hidden[rows]
        return known


def two_clusterings(n_samples=150, n_clusters=3, seed=0):
    """Three views with the common clusters, and two with the hidden clusters."""
    rng = np.random.default_rng(seed)
    common, hidden = (rng.permutation(np.arange(n_samples) % n_clusters) for _ in range(2))
    centers = 6 * np.eye(n_clusters, 5)
    arrays = [centers[one] + rng.standard_normal((n_samples, 5)) for one in 3 * [common] + 2 * [hidden]]
    return TwoClusterings(lf.Views(arrays), common, hidden)
