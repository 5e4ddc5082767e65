"""All that the sections of a report are written from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from latefusion.report.findings import Findings
from latefusion.report.judgement import Explanation, ViewJudgement
from latefusion.report.lines import HonestLines
from latefusion.report.profiles import Trait


@dataclass(frozen=True)
class ReportContent:
    """What was found, and what was made of it.

    Attributes
    ----------
    findings : Findings
    title : str
    warnings : list of str
    names, agreement
        Rows of the table of agreement between views, the consensus last, and the table.
    judgement : ViewJudgement
    explanation : Explanation
    traits : list of list of Trait
    lines : HonestLines or None
    command : str or None
        The command line that made the report, where one did.
    """

    findings: Findings
    title: str
    warnings: list[str]
    names: list[str]
    agreement: NDArray[np.float64]
    judgement: ViewJudgement
    explanation: Explanation = field(default_factory=Explanation)
    traits: list[list[Trait]] = field(default_factory=list)
    lines: HonestLines | None = None
    command: str | None = None
