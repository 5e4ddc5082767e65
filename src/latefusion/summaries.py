"""What a fitted model found, in a few lines: clusters, views, certainty and reasons; as text, HTML and tables."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import to_numpy
from latefusion.results import ResultTable
from latefusion.selection.alternatives import tie_note
from latefusion.selection.hints import HintResult
from latefusion.validation.sample_ids import shown_list

# Samples with a lower confidence are between clusters.
LOW_CONFIDENCE = 0.2


@dataclass(frozen=True, repr=False)
class ClusteringSummary:
    """The result of a clustering, as `latefusion cluster` prints it.

    Attributes
    ----------
    n_samples : int
    clusters : ResultTable
        Label, number and share of the samples, and median confidence and membership of every cluster.
    views : ResultTable
        Columns or clusters, samples, kind of values, weight and agreement of every view, as far as the method has them.
    columns : dict of str to str
        What the columns of every view that is a table contain.
    confidence : float or None
        Median.
    doubtful : int or None
        Number of samples with a confidence below 0.2.
    novel : int or None
        Number of samples with a novelty above 1; None if it was not computed.
    reasons : tuple of str
        Why this number of clusters and these settings were chosen.
    alternatives : str
        A sentence about other clusterings with the same score; empty if there are none.
    hints : str or None
        Which hints the clusters agree with, and whether they were followed; None without hints.
    calibration : Calibration or None
        How memberships were calibrated; None if they have not been computed.
    """

    n_samples: int
    clusters: ResultTable
    views: ResultTable
    columns: Mapping[str, str]
    confidence: float | None
    doubtful: int | None
    novel: int | None
    reasons: tuple[str, ...]
    alternatives: str
    hints: str | None = None
    calibration: Any = None

    @property
    def head(self) -> str:
        """Numbers of samples, views and clusters."""
        n_views = len(self.views)
        return f"{self.n_samples} samples, {n_views} view{'s' * (n_views > 1)}: {len(self.clusters)} clusters"

    @property
    def notes(self) -> list[str]:
        """Columns, certainty and reasons, in sentences."""
        notes = [f"Columns of {view}: {text}" for view, text in self.columns.items()]
        if self.confidence is not None:
            notes.append(
                f"Confidence: median {self.confidence:.2f} (0 between two clusters, 1 at the center of one); "
                f"{self.doubtful} of {self.n_samples} samples are below {LOW_CONFIDENCE}, between clusters."
            )
        notes += novelty_line(self.novel, self.n_samples, "other samples")
        notes += [] if self.calibration is None else [repr(self.calibration)]
        return [*notes, *([] if self.hints is None else [self.hints]), *self.reasons]

    def to_frame(self) -> Any:
        """The clusters as a pandas data frame; ``summary.views.to_frame()`` has the views.

        Returns
        -------
        pandas.DataFrame
        """
        return self.clusters.to_frame()

    def body(self) -> str:
        """The text without the head and the alternatives."""
        return "\n".join([repr(self.clusters), "", repr(self.views), "", *self.notes])

    def __repr__(self) -> str:
        return "\n".join([self.head, "", self.body(), *([self.alternatives] if self.alternatives else [])])

    def _repr_html_(self) -> str:
        notes = [*self.notes, *([self.alternatives] if self.alternatives else [])]
        tables = f"{self.clusters._repr_html_()}{self.views._repr_html_()}"
        return f"<p><b>{html.escape(self.head)}</b></p>\n{tables}" + "".join(
            f"<p>{html.escape(note)}</p>\n" for note in notes
        )


class SummaryMixin:
    """`summary` of a fitted clusterer, which notebooks show above its parameters."""

    def summary(self) -> ClusteringSummary:
        """What was found: clusters, views, certainty, and the reasons for choices.

        Returns
        -------
        ClusteringSummary
            Prints itself, in notebooks as HTML; ``to_frame()`` is a table of the clusters.
        """
        check_is_fitted(self)
        return summarize(self, getattr(self, "novelty_", None))

    def _repr_html_inner(self) -> str:
        estimator: str = super()._repr_html_inner()  # type: ignore[misc]
        labels = vars(self).get("labels_")
        if labels is None or hasattr(labels, "__dask_graph__"):
            return estimator  # not fitted, or labels that would have to be computed
        found = summarize(self, vars(self).get("novelty_"))._repr_html_()
        return f"{found}<details><summary>Parameters</summary>{estimator}</details>"

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """The fitted attributes that scikit-learn lists below the parameters.

        It reads all attributes, and some are computed when they are read, which can take several fits. Those that are
        stored are listed.
        """
        stored: Any = BaseEstimator()
        vars(stored).update(vars(self))
        found = stored._get_fitted_attr_html(doc_link)
        found.estimator_class = type(self)
        return found

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        return bundle | ({"text/html": self._repr_html_inner()} if "text/html" in bundle else {})


def summarize(model: Any, novelty: Any = None) -> ClusteringSummary:
    """The summary of a fitted model.

    Parameters
    ----------
    model : fitted estimator
    novelty : array of shape (n_samples,), default=None
        Novelty of the training samples, if it is known.

    Returns
    -------
    ClusteringSummary
    """
    labels, confidence = np.asarray(to_numpy(model.labels_)), getattr(model, "confidence_", None)
    confidence = None if confidence is None else np.asarray(to_numpy(confidence))
    number, alternatives = getattr(model, "number_selection_", None), getattr(model, "alternatives_", ())
    schemas, calibration = getattr(model.input_schema_, "views", ()), computed_calibration(model)
    membership = None if calibration is None else to_numpy(model.memberships_).max(axis=1)
    chosen = (number, getattr(model, "selection_", None))
    return ClusteringSummary(
        n_samples=len(labels),
        clusters=_clusters(labels, {"confidence": confidence, "membership": membership}),
        views=_views(model),
        columns={view.name: view.table.summary for view in schemas if view.table is not None},
        confidence=None if confidence is None else float(np.median(confidence)),
        doubtful=None if confidence is None else int(np.sum(confidence < LOW_CONFIDENCE)),
        novel=None if novelty is None else int(np.sum(np.asarray(novelty) > 1)),
        reasons=tuple(one.reason for one in chosen if one is not None),
        alternatives=tie_note(alternatives) if alternatives else "",
        hints=hint_line(model),
        calibration=calibration,
    )


def computed_calibration(model: Any) -> Any:
    """The calibration of the memberships of a model, None if it has not been computed.

    Reading ``calibration_`` would compute it, which takes several fits.
    """
    stored = vars(model)
    return stored.get("calibration_") or getattr(stored.get("_training_views"), "calibration", None)


def hint_line(model: Any) -> str | None:
    """Which hints the clusters of a model agree with, in sentences; None without hints."""
    result: HintResult | None = getattr(model, "hints_", None)
    if result is None:
        return None
    ids = getattr(model, "sample_ids_", None)
    overruled = result.overruled
    n_samples, n_kept = len(result.samples), int(result.kept.sum())
    line = f"Hints: {n_samples} samples, {n_kept} kept, {len(overruled)} overruled"
    if not result.followed:
        line = f"Hints: {n_samples} samples, not used; {n_kept} agree with the clusters, {len(overruled)} do not"
    if len(overruled):
        line += (
            f" ({'row ' if ids is None else ''}{shown_list((overruled if ids is None else ids[overruled]).tolist())})"
        )
    if result.n_pairs:
        line += f"; {result.pairs_kept} of {result.n_pairs} pairs satisfied"
    return f"{line}. {result.reason}"


def novelty_line(novel: int | None, n_samples: int, others: str) -> list[str]:
    """A sentence with the number of novel samples; none if the number is not known."""
    if novel is None:
        return []
    return [
        f"Novelty: {novel} of {n_samples} samples {'is' if novel == 1 else 'are'} farther from all {others} than 99 % "
        f"of the training samples are from each other (novelty above 1)."
    ]


def _clusters(labels: Any, certainty: Mapping[str, Any]) -> ResultTable:
    names, sizes = np.unique(labels, return_counts=True)
    columns: dict[str, Any] = {"cluster": names, "samples": sizes, "share": sizes / len(labels)}
    for what, values in certainty.items():
        if values is not None:
            columns[what] = np.array([np.median(values[labels == name]) for name in names], dtype=np.float64)
    return ResultTable(columns, formats={"share": "{:.0%}".format} | dict.fromkeys(certainty, two_digits))


def _views(model: Any) -> ResultTable:
    names = list(map(str, model.view_names_))
    kinds = getattr(model, "view_kinds_", {})
    weights: Any = getattr(model, "view_weights_", None)
    agreement: Any = getattr(model, "agreement_", None)
    known_scores = {  # of a consensus of labelings
        "ARI": getattr(model, "adjusted_rand_", None),
        "NMI": getattr(model, "normalized_mutual_info_", None),
    }
    columns = {
        "columns": getattr(model, "n_features_per_view_", None),
        "clusters": getattr(model, "n_clusters_per_view_", None),
        "samples": to_numpy(model.observed_).sum(axis=0) if hasattr(model, "observed_") else None,
        "kind": [kinds.get(name) for name in names] if kinds else None,
        # Some methods weigh samples or clusters, not views.
        "weight": None if np.shape(weights) != (len(names),) else np.asarray(weights, dtype=np.float64),
        "agreement": None if agreement is None else np.asarray(agreement, dtype=np.float64),
        **known_scores,
    }
    known = {name: values for name, values in columns.items() if values is not None}
    decimals = ("weight", "agreement", *known_scores)
    return ResultTable({"view": names, **known}, formats=dict.fromkeys(decimals, two_digits))


def two_digits(value: Any) -> str:
    """A number with two digits after the point, or a dash."""
    return "–" if value is None or np.isnan(value) else f"{round(float(value), 2) + 0.0:.2f}"  # never -0.00
