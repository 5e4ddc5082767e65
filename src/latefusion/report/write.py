"""`write_report`: from a fitted model and its views to one HTML file."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latefusion.atomic_files import atomic_write
from latefusion.datasets.modalities import is_mudata
from latefusion.estimators.updates import Update
from latefusion.experiments.comparison import ComparisonRow
from latefusion.interpretation.annotation import read_annotation
from latefusion.interpretation.effects import model_effects
from latefusion.interpretation.features import read_features
from latefusion.interpretation.gather import ModelData, gather, gather_new
from latefusion.interpretation.importance import (
    Explanation,
    Importance,
    agreement_table,
    explain_views,
    view_importance,
)
from latefusion.interpretation.outcomes import Outcome
from latefusion.interpretation.traits import traits_of
from latefusion.interpretation.warnings import data_warnings, result_warnings
from latefusion.outputs.targets import REPORT, Target, check_targets
from latefusion.progress import progress_range, report_progress
from latefusion.report import sections_method, sections_samples
from latefusion.report.annotation import annotation_section
from latefusion.report.baselines import Baselines, run_baselines
from latefusion.report.colors import chosen_columns, color_columns, known_columns
from latefusion.report.downloads import downloads
from latefusion.report.heatmap import heatmap, top_features
from latefusion.report.html import render, require_jinja2
from latefusion.report.maps import METHODS, draw
from latefusion.report.memberships import memberships_section
from latefusion.report.number_path import number_tree
from latefusion.report.outcome import outcome_section
from latefusion.report.reproduce import reproduction
from latefusion.report.update import update_section
from latefusion.report.widgets import cluster_styles, integer


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
    explain: bool | Explanation = True,
    warnings: Sequence[str] | None = None,
    embedding: str = "auto",
    command: str | None = None,
    loading: str | None = None,
    fitting: str | None = None,
    new: bool = False,
    force: bool = False,
    annotation: Any = None,
    color_by: Sequence[str] | None = None,
    outcome: Outcome | None = None,
    update: Update | None = None,
    files: Sequence[str | os.PathLike[str]] | None = None,
    date: datetime.date | None = None,
) -> Path:
    """Write a report about a fitted model as one HTML file that opens offline in any browser.

    Needs Jinja2: ``pip install 'latefusion[report]'``.

    Parameters
    ----------
    model : fitted estimator
        `LateFusionClustering`, `GlobalAlignmentClustering`, `LocalAlignmentClustering`, `ConsensusClustering` or a
        comparison method. Sections for which the model has no results are left out.
    X : as in the ``fit`` of the model
        The views that it was fitted on, or of new samples with ``new=True``.
    path : str or path-like
        File to write, which ends in ``.html`` or ``.htm``. An older report is replaced when the new one is complete.
    sample_ids : sequence of shape (n_samples,), default=None
        Identifiers of the samples; by default those of the views.
    target : array of shape (n_samples,), default=None
        Known classes: a table of clusters and classes, colours of the maps, and scores. They are for comparison only.
        The name of a series is their heading.
    title : str, default=None
        Heading of the page.
    baselines : bool or list of ComparisonRow, default=True
        Whether to run baselines for comparison, or the result of `latefusion.compare_baselines`.
    features : MuData, or mapping of str to AnnData, data frame or `Features`, default=None
        By name of the view: features that describe the clusters in place of the columns of the view, such as genes if
        principal components were clustered. Counts of RNA and proteins are normalised. By default, the features of X if
        it is a MuData object.
    explain : bool or Explanation, default=True
        Whether to leave out one view at a time, to compute intervals of the weights and, if the number of clusters was
        selected, clusters for other numbers, which takes a few more fits; or the result of `explain_views` for the
        first two. Only `LateFusionClustering` supports these.
    warnings : sequence of str, default=None
        Warnings about the data that were computed before; by default they are computed.
    embedding : {"auto", "tsne", "pca"}, default="auto"
        Method of the map of the samples; "auto" is t-SNE.
    command : str, default=None
        The command line that writes this report; it is shown under "How to reproduce".
    loading : str, default=None
        Python code that defines ``views``, and ``target``, ``annotation`` and ``clinic`` (the table of the outcome) if
        there are such; it is shown under "How to reproduce".
    fitting : str, default=None
        Python code that defines ``model``, where it is not a fit on ``views``.
    new : bool, default=False
        Whether X contains other samples than those of ``fit``, which the model labels. Clusters of single views, the
        importance of the views and baselines are left out.
    force : bool, default=False
        Whether to replace an existing file that is not a report, too.
    annotation : data frame, mapping of str to array, series or array of shape (n_samples,), default=None
        Further knowledge about the samples: categories, numbers and dates, which are compared with the clusters and can
        be shown by colour. Frames and series with sample ids are matched by them, in any order.
    color_by : sequence of str, default=None
        Columns that the maps can be coloured by: names of columns, or "view: column", "annotation: column" or "outcome:
        column". By default those of the views with the largest effects. Annotation and outcomes are always offered.
    outcome : Outcome, default=None
        The result of `latefusion.outcome` for the same samples: survival curves with numbers at risk, and tests.
    update : Update, default=None
        The result of ``update`` of an earlier model, if the model is its ``update.model``: what changed, and drift.
    files : sequence of str or path-like, default=None
        Names of the input files, which the page shows.
    date : datetime.date, default=None
        Date of the report; by default today.

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
    ...     "<h1>3 clusters of 90 samples</h1>" in file.read_text(encoding="utf-8")
    True
    """
    require_jinja2()
    if embedding not in METHODS:
        raise ValueError(f"embedding must be one of {list(METHODS)}, got {embedding!r}.")
    path = Path(path)
    check_targets([Target(path, REPORT)], force=force)
    report_progress("single views", 0.0)
    data = (gather_new if new else gather)(model, X, sample_ids=sample_ids, target=target)
    if new:
        explain, baselines = False, False
    if features is None:
        features = X if is_mudata(X) else {}
    described = data.described_by(read_features(features, data.n_samples, data.ids))
    known = read_annotation(annotation, data)
    tested, changed = outcome_section(outcome, data), update_section(update, data)
    colors = known_columns(known.columns, None if outcome is None else outcome.table, data.membership)
    chosen_columns(described, color_by or (), colors)  # errors before the work
    names, agreement = agreement_table(data)
    report_progress("importance of the views", 0.1)
    with progress_range(0.1, 0.3):
        explanation = _explained(model, explain)
    tree = number_tree(model) if explain else None
    importance = Importance([], {}) if new else view_importance(data, explanation, names, agreement)
    report_progress("baselines", 0.3)
    with progress_range(0.3, 0.4):
        compared = _baselines(data, baselines)
    report_progress("cluster profiles", 0.4)
    effects = model_effects(described, test=True)
    n_clusters, what = len(data.clusters), "new samples" if new else "samples"
    top = top_features(effects, n_clusters)
    clusters = sections_samples.clusters(data, traits_of(effects, data))
    with progress_range(0.5, 0.95):
        drawing = draw(data, embedding, color_columns(described, effects, top, colors, color_by))
    report_progress("writing the page", 0.95)
    page = render(
        data=data,
        title=title or f"{n_clusters} cluster{'s' * (n_clusters != 1)} of {integer(data.n_samples)} {what}",
        method=type(model).__name__,
        date=str(datetime.date.today() if date is None else date),
        files=[os.fspath(file) for file in files or ()],
        styles=cluster_styles(n_clusters, data.clusters),
        summary=sections_samples.summary(data, importance, explanation, compared, outcome),
        warnings=[*result_warnings(data), *(data_warnings(data) if warnings is None else warnings)],
        drawing=drawing,
        clusters=clusters,
        largest_effect=sections_samples.largest_effect(clusters),
        heatmap=heatmap(effects, top),
        downloads=downloads(data, effects),
        annotation=annotation_section(known, data),
        outcome=tested,
        update=changed,
        memberships=memberships_section(data),
        samples=sections_samples.samples_to_check(data),
        views=sections_method.views_section(data, explanation, names, agreement),
        baselines=sections_method.baselines_section(compared),
        choices=sections_method.choices(data, tree),
        convergence=sections_method.convergence(data),
        missing=sections_samples.missing_views(data),
        reproduce=reproduction(
            data,
            command=command,
            loading=loading,
            fitting=fitting,
            new=new,
            annotated=annotation is not None,
            outcome=outcome,
        ),
    )
    with atomic_write(path) as stream:
        stream.write(page.encode("utf-8"))
    return path


def _explained(model: Any, explain: bool | Explanation) -> Explanation:
    if isinstance(explain, Explanation):
        return explain
    return explain_views(model) if explain else Explanation()


def _baselines(data: ModelData, given: bool | Sequence[ComparisonRow]) -> Baselines | None:
    if isinstance(given, (bool, np.bool_)):
        return run_baselines(data) if given else None
    rows = list(given)
    return Baselines(rows, data.n_samples) if rows else None
