"""Calibration of memberships."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.metrics import calibration_curve
from latefusion.plots.canvas import PALETTE, Display

# Area of the largest marker in points squared; others are smaller in proportion to their share of the comparisons.
LARGEST_MARKER = 200.0


class CalibrationDisplay(Display):
    """The share of samples that kept their cluster against their membership in it; the diagonal is ideal.

    Options go to `matplotlib.axes.Axes.plot` for the curve.

    Parameters
    ----------
    predicted : array of shape (n_bins,)
        Mean membership of the samples of a bin in their own cluster.
    observed : array of shape (n_bins,)
        The share of them that kept their cluster when the clustering was repeated on other samples.
    counts : array of shape (n_bins,)
        Number of comparisons, drawn as the area of the marker.

    Attributes
    ----------
    curve_ : matplotlib Line2D
    markers_ : matplotlib PathCollection
    diagonal_ : matplotlib Line2D
    """

    def __init__(self, predicted: Any, observed: Any, counts: Any) -> None:
        self.predicted = np.asarray(predicted, dtype=np.float64)
        self.observed = np.asarray(observed, dtype=np.float64)
        self.counts = np.asarray(counts, dtype=np.float64)

    @classmethod
    def from_memberships(
        cls, membership: Any, kept: Any, compared: Any = None, *, n_bins: int = 10, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the curve of memberships and outcomes.

        Parameters
        ----------
        membership : array of shape (n_samples,)
            In the own cluster.
        kept : array of shape (n_samples,)
            How often the sample kept its cluster.
        compared : array of shape (n_samples,), default=None
            For how many clusterings it was compared; one by default.
        n_bins : int, default=10
            Number of bins of equal width.
        ax : matplotlib Axes, default=None
            A new figure when None.
        **kwargs : keyword arguments
            Passed to `plot`.

        Returns
        -------
        CalibrationDisplay
        """
        return cls(*calibration_curve(membership, kept, compared, n_bins=n_bins)).plot(ax=ax, **kwargs)

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        return cls(*estimator.calibration_.curve)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], ":", color="0.5", linewidth=1, zorder=1)
        style = {"color": PALETTE[0], "linewidth": 1.5} | options
        (self.curve_,) = ax.plot(self.predicted, self.observed, **style, zorder=2)
        largest = max(float(np.max(self.counts, initial=0.0)), np.finfo(np.float64).tiny)
        areas = LARGEST_MARKER * self.counts / largest
        self.markers_ = ax.scatter(
            self.predicted, self.observed, s=areas, color=self.curve_.get_color(), zorder=3, clip_on=False
        )
        ax.set(
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
            xlabel="membership in the own cluster",
            ylabel="share of samples that keep their cluster",
        )
