"""Content of the section about memberships, for models whose memberships have been computed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latefusion.interpretation.gather import ModelData
from latefusion.report.widgets import LineChart, line_chart
from latefusion.summaries import computed_calibration

# Samples with a lower membership are in another cluster more often than in their own.
DOUBTFUL = 0.5


class MembershipsSection(NamedTuple):
    """Memberships, and how they were calibrated.

    Attributes
    ----------
    median : float
        Of the memberships in the own cluster.
    n_doubtful : int
        Samples with a membership below 0.5.
    calibration : str
        In sentences.
    chart : LineChart or None
        Share of samples that kept their cluster by membership; None if all memberships are similar.
    """

    median: float
    n_doubtful: int
    calibration: str
    chart: LineChart | None


def memberships_section(data: ModelData) -> MembershipsSection | None:
    """Describe memberships and draw the calibration curve.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    MembershipsSection or None
        None if memberships have not been computed.
    """
    found = computed_calibration(data.model)
    if data.membership is None or found is None:
        return None
    predicted, observed = found.curve.predicted.tolist(), found.curve.observed.tolist()
    chart = None
    if len(predicted) > 1:
        series = [("samples that kept their cluster", observed), ("ideal: as many as the membership", predicted)]
        rounded = [round(one, 2) for one in predicted]  # the ends are texts of the axis
        chart = line_chart(rounded, series, label="Calibration of memberships", x_name="membership")
    doubtful = int(np.sum(data.membership < DOUBTFUL))
    return MembershipsSection(float(np.median(data.membership)), doubtful, repr(found), chart)
