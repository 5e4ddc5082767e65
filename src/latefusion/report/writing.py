"""`write_report`: a fitted model and its views become one HTML file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latefusion.atomic_files import whole_file
from latefusion.datasets.modalities import is_mudata
from latefusion.experiments.comparison import ComparisonRow
from latefusion.outputs.targets import REPORT, Target, check_targets
from latefusion.report.content import ReportContent
from latefusion.report.features import read_features
from latefusion.report.findings import Findings, gather
from latefusion.report.judgement import Explanation, agreement_table, data_warnings, explain_views, judge_views
from latefusion.report.lines import HonestLines, plain_lines
from latefusion.report.maps import METHODS
from latefusion.report.page import draw, render
from latefusion.report.pieces import count
from latefusion.report.profiles import cluster_traits

Progress = Callable[[str], None]
# How often the progress is told.
REPORT_STEPS = 5


def write_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    sample_ids: Any = None,
    target: Any = None,
    title: str | None = None,
    baselines: bool | Sequence[ComparisonRow] = True,
    features: Any = None,
    explain: bool = True,
    embedding: str = "auto",
    command: str | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> Path:
    """Write what a fitted model found as one HTML file, which opens offline in any browser.

    Parameters
    ----------
    model : fitted estimator
        `LateFusionClustering`, `GlobalAlignmentClustering`, `LocalAlignmentClustering`, `ConsensusClustering`; sections
        for which it has nothing to say are left out.
    X : as in the ``fit`` of the model
        The views that it was fitted on.
    path : str or path-like
        File to write, which ends in ``.html`` or ``.htm``. An older report is replaced when the new one is complete.
    sample_ids : sequence of shape (n_samples,), default=None
        Names of the samples; by default those that the views have.
    target : array of shape (n_samples,), default=None
        Known classes. They are used for scores and nothing else.
    title : str, default=None
        Heading of the page.
    baselines : bool or list of ComparisonRow, default=True
        Whether to run plain methods for comparison, or what `latefusion.compare_baselines` gave already.
    features : MuData, or mapping of str to AnnData, data frame or `Features`, default=None
        By name of the view: what to describe clusters by in place of its columns, such as genes where principal
        components were clustered. Counts of RNA and proteins are normalised. A MuData object that the model was fitted
        on is its own.
    explain : bool, default=True
        Whether to ask the model what would be without each view, and how sure its weights are; costs a few more fits,
        and only `LateFusionClustering` has an answer.
    embedding : {"auto", "tsne", "pca"}, default="auto"
        How the map of the samples is made; "auto" is t-SNE.
    command : str, default=None
        The command line that made the report, to be shown.
    progress : callable, default=None
        Called with the name of every step before it is taken.
    force : bool, default=False
        Whether to replace an existing file that is not a report, too.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import latefusion as lf
    >>> from latefusion.report import write_report
    >>> data = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0)
    >>> model = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_report(model, data.views, Path(folder) / "report.html", baselines=False, embedding="pca")
    ...     "3 clusters" in file.read_text(encoding="utf-8").replace("</span><span>", " ")
    True
    """
    if embedding not in METHODS:
        raise ValueError(f"embedding must be one of {list(METHODS)}, got {embedding!r}.")
    path = Path(path)
    check_targets([Target(path, REPORT)], force=force)
    say = progress or (lambda step: None)
    say("what single views say")
    findings = gather(model, X, sample_ids=sample_ids, target=target)
    if features is None:
        features = X if is_mudata(X) else {}
    described = read_features(features, findings.n_samples, findings.ids)
    names, agreement = agreement_table(findings)
    say("what every view is good for")
    explanation = explain_views(model) if explain else Explanation()
    say("plain methods")
    lines = _lines(findings, baselines)
    say("map of the samples")
    drawing = draw(findings, embedding)
    say("profiles of the clusters")
    content = ReportContent(
        findings=findings,
        title=title or f"{len(findings.clusters)} clusters of {count(findings.n_samples)} samples",
        warnings=data_warnings(findings),
        names=names,
        agreement=agreement,
        judgement=judge_views(findings, explanation, names, agreement),
        explanation=explanation,
        traits=cluster_traits(findings, described),
        lines=lines,
        command=command,
    )
    with whole_file(path) as stream:
        stream.write(render(content, drawing).encode("utf-8"))
    return path


def _lines(findings: Findings, baselines: bool | Sequence[ComparisonRow]) -> HonestLines | None:
    if isinstance(baselines, (bool, np.bool_)):
        return plain_lines(findings) if baselines else None
    rows = list(baselines)
    return HonestLines(rows, findings.n_samples) if rows else None
