"""Sections about the method: views, plain lines, choices, convergence, reproduction; None where there is no content."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from latefusion.experiments.comparison import SCORES
from latefusion.report.content import ReportContent
from latefusion.report.findings import shorten
from latefusion.report.markup import Html, element
from latefusion.report.pieces import bar, code, count, decimal, heat_table, line_chart, section, signed, table

LIBRARIES = ("numpy", "scipy", "scikit-learn")
KIND_NAMES = {"features": "features", "kernel": "similarities", "labels": "labels"}
# Candidates that are listed.
MOST_CANDIDATES = 12
# Numbers of clusters that are listed.
MOST_NUMBERS = 5


def views_section(content: ReportContent) -> Html | None:
    """Weights, agreement, and what would be without each view."""
    findings, model = content.findings, content.findings.model
    weights, agreement = getattr(model, "view_weights_", None), getattr(model, "agreement_", None)
    if weights is None:
        return None
    intervals, verdicts = content.explanation.intervals, content.explanation.verdicts
    kinds = getattr(model, "view_kinds_", {})
    header = ["view", "holds", "columns", "weight", ""]
    header += ["95 % interval"] if intervals is not None else []
    header += ["agreement"] if agreement is not None else []
    header += ["labels that change without it", "stability gained without it"] if verdicts is not None else []
    rows = []
    for place, view in enumerate(findings.views):
        ends = None if intervals is None else (float(intervals.lower[place]), float(intervals.upper[place]))
        row: list[Any] = [view.name, kinds.get(view.name, KIND_NAMES[view.kind]), count(view.width)]
        row += [f"{weights[place]:.3f}", bar(float(weights[place]), interval=ends)]
        row += [] if ends is None else [f"{ends[0]:.3f} – {ends[1]:.3f}"]
        row += [] if agreement is None else [f"{agreement[place]:.3f}"]
        if verdicts is not None:
            one = verdicts[place]
            row += [f"{one.changed:.1%}", f"{signed(one.gain, 3)} ± {one.doubt:.3f}"]
        rows.append(row)
    parts = [table(header, rows, label="Weights of the views", text=2)]
    if verdicts is not None:
        parts.append(
            element(
                "p",
                "Stability is how well clusters are found again in other samples; a change within two standard errors "
                "is no change.",
                class_="small",
            )
        )
    parts += [element("p", note, class_="small") for note in content.explanation.notes]
    if len(content.names) > 2:
        parts += [
            element("h3", "Agreement between views"),
            element(
                "p",
                "How alike the clusters of single views are: 1 is the same, 0 is chance (adjusted Rand index).",
                class_="what",
            ),
            heat_table(content.names, content.agreement, label="Agreement between views"),
        ]
    return section(
        "views",
        "Views",
        "How much every view counts for the consensus (the squares of the weights sum to one), and how much of its own "
        "partition is found in the consensus (agreement, 0 to 1).",
        *parts,
    )


def lines_section(content: ReportContent) -> Html | None:
    """Plain methods next to ours."""
    if content.lines is None:
        return None
    rows = content.lines.rows
    columns = [name for name in SCORES if any(name in row.scores for row in rows)]
    timed = any(np.isfinite(row.seconds) for row in rows)
    header = ["method", *(SCORES[name] for name in columns), "clusters", *(["seconds"] if timed else []), ""]
    body = []
    for row in rows:
        cells: list[Any] = [row.method]
        cells += [decimal(row.scores[name], 3) if name in row.scores else "–" for name in columns]
        cells.append("–" if row.labels is None else str(len(np.unique(row.labels))))
        cells += ([f"{row.seconds:.2f}"] if np.isfinite(row.seconds) else ["–"]) if timed else []
        body.append([*cells, element("span", row.note, class_="note") if row.note else ""])
    words = []
    if "information" in columns:
        words.append("Information is how much the clusters say about neighbouring samples and about the single views")
    if content.lines.n_samples < content.findings.n_samples:
        words.append(f"Computed on {count(content.lines.n_samples)} of the samples")
    note = element("p", ". ".join(words) + ".", class_="small") if words else None
    return section(
        "lines",
        "The honest lines",
        "What a few lines of scikit-learn make of the same data: if they do as well, prefer them. The last line is "
        "this report's model.",
        table(header, body, label="Plain methods and ours", marked=len(body) - 1),
        note,
    )


def choices_section(content: ReportContent) -> Html | None:
    """What was chosen, and why."""
    model = content.findings.model
    number, selection = getattr(model, "number_selection_", None), getattr(model, "selection_", None)
    if number is None and selection is None:
        return None
    parts: list[Any] = []
    if number is not None:
        numbers = [one.n_clusters for one in number.evidence]
        parts += [element("h3", "The number of clusters"), element("p", _unbroken(number.reason))]
        if len(numbers) > 1:
            series = [
                ("stability of these data", [one.stability for one in number.evidence]),
                ("the same shape without clusters", [one.stability for one in number.null]),
            ]
            parts.append(
                line_chart(
                    numbers,
                    series,
                    label="Stability for every number of clusters",
                    x_name="number of clusters",
                    marked=number.n_clusters,
                )
            )
            parts.append(_numbers_table(number))
    if selection is not None:
        best = sorted(selection, key=lambda row: -row["score"])[:MOST_CANDIDATES]
        filled = any(row.get("n_directions") is not None for row in best)  # samples lack views
        rows = [
            [
                *(row["kind"], row["weighing"], f"{row['regularization']:g}"),
                *([_or_dash(row.get("n_directions"))] if filled else []),
                f"{row['score']:.3f} ± {row['spread']:.3f}",
            ]
            for row in best
        ]
        marked = next((place for place, row in enumerate(best) if row["chosen"]), -1)
        header = ["similarity", "views count", "pull to the mean (λ)"]
        header += ["directions that fill holes", "score"] if filled else ["score"]
        left_out = len(selection) - len(best)
        parts += [
            element("h3", "Similarity, weighing and λ"),
            element("p", _unbroken(selection.reason)),
            table(header, rows, label="Candidates by score", text=2, marked=marked),
            element("p", f"{left_out} candidates with no higher score are left out.", class_="small")
            if left_out
            else None,
        ]
    return section(
        "choices",
        "What was chosen, and why",
        "The method tries several settings and takes the default unless another is better beyond chance; no known "
        "classes are used.",
        *parts,
    )


def _unbroken(text: str) -> str:
    """A sentence in which no line ends between ± and its number."""
    return text.replace("± ", "±\u00a0")


def _or_dash(value: Any) -> str:
    return "–" if value is None else str(value)


def _numbers_table(number: Any) -> Html:
    """The numbers of clusters that score highest."""
    best = sorted(number.evidence, key=lambda one: -one.score)[:MOST_NUMBERS]
    rows = [
        [str(one.n_clusters), f"{one.stability:.3f} ± {one.spread:.3f}", f"{one.information:.3f}", f"{one.score:.3f}"]
        for one in best
    ]
    marked = next((place for place, one in enumerate(best) if one.n_clusters == number.n_clusters), -1)
    header = ["clusters", "stability", "information", "score: stability² × information"]
    return table(header, rows, label="Numbers of clusters by score", marked=marked)


def convergence_section(content: ReportContent) -> Html | None:
    """The objective over the iterations."""
    model = content.findings.model
    objective = np.asarray(getattr(model, "objective_", []), dtype=float)
    if len(objective) == 0 or not np.isfinite(objective).all():
        return None
    ended = "converged" if getattr(model, "converged_", True) else "was stopped"
    parts = [element("p", f"The method {ended} after {model.n_iter_} iterations, at {objective[-1]:.6g}.")]
    if len(objective) > 1:
        steps = list(range(1, len(objective) + 1))
        label = f"Objective over {len(objective)} iterations, from {objective[0]:.4g} to {objective[-1]:.4g}"
        parts.append(line_chart(steps, [("objective", objective.tolist())], label=label, x_name="iteration"))
    return section(
        "convergence",
        "Convergence",
        "The value that the method improves step by step, until it stops changing.",
        *parts,
    )


def reproduce_section(content: ReportContent) -> Html:
    """Python lines, versions, seed, parameters."""
    findings, model = content.findings, content.findings.model
    names = [view.name for view in findings.views]
    lines = [
        "import latefusion as lf",
        "from latefusion.report import write_report",
        "",
        f"# {findings.n_samples} samples, {len(names)} view{'s' * (len(names) > 1)}: "
        f"{shorten([repr(name) for name in names], 10)}",
        f"model = lf.{_one_line(model)}.fit(views)",
        'write_report(model, views, "report.html")',
    ]
    parts = [code("\n".join(lines))]
    if content.command is not None:
        parts = [element("p", "The command that wrote this page:"), code(content.command), *parts]
    parameters = [[name, repr(value)] for name, value in sorted(model.get_params(deep=False).items())]
    seed = model.get_params(deep=False).get("random_state")
    said = f"The seed is {seed!r}." if isinstance(seed, int) else "No seed was set: a second run may differ slightly."
    return section(
        "reproduce",
        "How to reproduce",
        f"The same data, versions and seed give the same clusters. {said}",
        *parts,
        element(
            "div",
            table(["parameter", "value"], parameters, label="Parameters", text=2),
            table(["software", "version"], _versions(), label="Versions", text=2),
            class_="columns",
        ),
    )


def _one_line(model: Any) -> str:
    return " ".join(line.strip() for line in repr(model).splitlines())


def _versions() -> list[list[str]]:
    found = []
    for name in ("latefusion", *LIBRARIES):
        try:
            found.append([name, version(name)])
        except PackageNotFoundError:  # run from a source tree
            continue
    return [*found, ["Python", platform.python_version()], ["system", platform.system()]]
