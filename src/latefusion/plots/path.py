"""Effect of λ, the regularization towards the mean of all views."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np

from latefusion.metrics import adjusted_rand
from latefusion.plots.canvas import Display, cluster_colors

# The grid of the paper.
REGULARIZATIONS = tuple(float(2.0**power) for power in range(-5, 6))


class RegularizationPathDisplay(Display):
    """Weights of all views for every λ, and the agreement of the labels with those of the next smaller λ.

    Options go to `matplotlib.axes.Axes.plot` for the weights.

    Parameters
    ----------
    regularizations : array of shape (n_points,)
        Values of λ.
    weights : array of shape (n_points, n_views)
    names : sequence of str
        Of the views.
    labels : array of shape (n_points, n_samples), default=None

    Attributes
    ----------
    agreement : ndarray of shape (n_points - 1,) or None
        Adjusted Rand index between the labels of successive λ, in ascending order.
    lines_ : list of matplotlib Line2D
        One per view.
    agreement_ : matplotlib Line2D or None
    """

    def __init__(self, regularizations: Any, weights: Any, names: Any, *, labels: Any = None) -> None:
        order = np.argsort(regularizations, kind="stable")
        self.regularizations = np.asarray(regularizations, dtype=np.float64)[order]
        self.weights = np.asarray(weights)[order]
        self.names = [str(name) for name in names]
        self.agreement = None
        if labels is not None:
            found = np.asarray(labels)[order]
            self.agreement = np.array([adjusted_rand(*pair) for pair in pairwise(found)])

    @classmethod
    def from_estimator(  # type: ignore[override]
        cls, estimator: Any, X: Any, *, regularizations: Any = REGULARIZATIONS, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Solve for every λ and draw.

        Parameters
        ----------
        estimator : GlobalAlignmentClustering or LocalAlignmentClustering
            Fitted on X.
        X : as in the ``fit`` of the estimator
        regularizations : sequence of float, default=(0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
            Values of λ.
        ax : matplotlib Axes, default=None
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.plot` for the weights.

        Returns
        -------
        RegularizationPathDisplay
        """
        path = estimator.regularization_path(X, regularizations)
        display = cls(path.regularizations, path.weights, estimator.view_names_, labels=np.asarray(path.labels))
        return display.plot(ax=ax, **kwargs)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        colors = cluster_colors(len(self.names))
        style = {"marker": "o", "markersize": 4} | options
        self.lines_ = [
            ax.plot(self.regularizations, weights, **({"color": color, "label": name} | style))[0]
            for name, weights, color in zip(self.names, self.weights.T, colors, strict=True)
        ]
        self.agreement_ = None
        if self.agreement is not None:
            dots = {"color": "black", "linestyle": ":", "marker": "x", "markersize": 5}
            label = "labels: agreement\nwith the next smaller λ"
            (self.agreement_,) = ax.plot(self.regularizations[1:], self.agreement, label=label, **dots)
        positive = self.regularizations[self.regularizations > 0]
        # A logarithmic axis that includes zero.
        ax.set_xscale("symlog", base=2, linthresh=positive.min(initial=1.0))
        ax.set_ylim(-0.02, 1.05)
        ax.set(xlabel="λ", ylabel="weight of a view; agreement of labels")
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
