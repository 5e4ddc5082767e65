"""Several fitted models in one figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from latefusion.atomic_files import atomic_write
from latefusion.plots.canvas import require_pyplot
from latefusion.plots.consensus import ConsensusDisplay
from latefusion.plots.convergence import ConvergenceDisplay
from latefusion.plots.selection import SelectionDisplay
from latefusion.plots.weights import ViewWeightsDisplay


def draw_overview(models: Mapping[str, Any], path: str | Path) -> None:
    """Save a figure with one row per model: map of the consensus, view weights, and candidates or convergence.

    Parameters
    ----------
    models : mapping of str to fitted estimator
        Titles and models.
    path : str or Path
        File to write; the suffix determines the format.
    """
    pyplot = require_pyplot()
    figure, axes = pyplot.subplots(
        len(models), 3, figsize=(14, 3.8 * len(models)), squeeze=False, layout="constrained", width_ratios=(1.2, 1, 1)
    )
    for (name, model), (left, middle, right) in zip(models.items(), axes, strict=True):
        ConsensusDisplay.from_estimator(model, ax=left)
        left.set_title(name)
        ViewWeightsDisplay.from_estimator(model, ax=middle)
        if hasattr(model, "selection_"):
            SelectionDisplay.from_estimator(model, ax=right)
            right.tick_params(axis="y", labelsize=7)
        else:
            ConvergenceDisplay.from_estimator(model, ax=right)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=Path(path).suffix[1:] or "png", dpi=110)
    pyplot.close(figure)
