"""The sections of a report. Each takes what was found and gives HTML, or None where there is nothing to say."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.experiments.comparison import SCORES
from latefusion.metrics import clustering_scores
from latefusion.report.findings import Findings, shorten
from latefusion.report.judgement import Explanation, ViewJudgement
from latefusion.report.lines import HonestLines
from latefusion.report.markup import Html, element
from latefusion.report.pieces import (
    bar,
    cluster_styles,
    code,
    count,
    effect_bar,
    heat_table,
    line_chart,
    section,
    swatch,
    table,
)
from latefusion.report.profiles import Trait

LIBRARIES = ("numpy", "scipy", "scikit-learn")
KIND_NAMES = {"features": "features", "kernel": "similarities", "labels": "labels"}
# Rows of tables that would otherwise grow with the data.
MOST_TRAITS = 24
MOST_CANDIDATES = 12
MOST_PATTERNS = 20
MOST_DOUBTFUL = 10
# What a sample's confidence is called.
SURE, UNSURE = 0.5, 0.2


@dataclass(frozen=True)
class ReportContent:
    """All that sections are written from.

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


def headline(content: ReportContent) -> Html:
    """Number of clusters, sizes, how sure, which views matter and which to drop."""
    findings = content.findings
    sizes, n_views = findings.sizes, len(findings.views)
    facts = [
        (count(len(findings.clusters)), "clusters"),
        (count(findings.n_samples), "samples"),
        (count(n_views), "views" if n_views > 1 else "view"),
    ]
    if findings.confidence is not None:
        facts.append((f"{np.median(findings.confidence):.2f}", "median confidence, 0 to 1"))
    cards = [
        element("div", element("span", number, class_="big"), element("span", what), class_="fact")
        for number, what in facts
    ]
    sentences = [
        f"The largest cluster has {count(sizes.max())} samples ({sizes.max() / sizes.sum():.0%}), the smallest "
        f"{count(sizes.min())} ({sizes.min() / sizes.sum():.1%})."
    ]
    if findings.confidence is not None:
        sure, unsure = np.mean(findings.confidence >= SURE), np.mean(findings.confidence < UNSURE)
        sentences.append(
            f"{sure:.0%} of the samples sit clearly in their cluster (confidence {SURE} or more); {unsure:.0%} lie "
            f"between clusters (below {UNSURE})."
        )
    sentences += _view_sentences(content)
    if findings.target is not None:
        scores = clustering_scores(findings.target, findings.labels)
        shown = ", ".join(f"{SCORES[name]} {value:.3f}" for name, value in scores.items() if name in SCORES)
        sentences.append(f"Against the known classes, which were used for nothing else: {shown}.")
    return element(
        "section",
        element("div", cards, class_="facts"),
        element("ul", [element("li", one) for one in sentences], class_="sentences"),
        id="headline",
        aria_label="In short",
    )


def _view_sentences(content: ReportContent) -> list[str]:
    findings, judgement = content.findings, content.judgement
    weights = getattr(findings.model, "view_weights_", None)
    found = []
    if weights is not None and len(findings.views) > 1:
        top, last = int(np.argmax(weights)), int(np.argmin(weights))
        found.append(
            f"{findings.views[top].name} counts most (weight {weights[top]:.2f}), {findings.views[last].name} least "
            f"({weights[last]:.2f})."
        )
    if judgement.important:
        found.append(f"Without {shorten(judgement.important, 5)} the clusters would be less stable: keep.")
    for name, why in judgement.droppable[:5]:
        found.append(f"{name} could be dropped: {why}.")
    if len(findings.views) > 1 and not judgement.droppable and content.explanation.verdicts is not None:
        found.append("No view does harm: none needs to be dropped.")
    return found


def warning_list(content: ReportContent) -> Html | None:
    """What to be careful about."""
    if not content.warnings:
        return None
    return section(
        "warnings",
        "What to be careful about",
        "Things in the data or the result that may mislead.",
        element("ul", [element("li", one) for one in content.warnings], class_="warnings"),
    )


def map_section(content: ReportContent, method: str, n_shown: int, n_view_points: int) -> Html:
    """The interactive maps; the script draws into them."""
    findings = content.findings
    colors, shapes = cluster_styles(len(findings.clusters))
    keys = [
        element(
            "button",
            swatch(color, shape),
            element("span", name),
            element("span", count(size), class_="size"),
            type="button",
            class_="key",
            aria_pressed="true",
            data_cluster=place,
            title=f"Show or hide cluster {name}",
        )
        for place, (name, size, color, shape) in enumerate(
            zip(findings.clusters, findings.sizes, colors, shapes, strict=True)
        )
    ]
    subset = "" if n_shown == findings.n_samples else f" {count(n_shown)} random samples are shown."
    choices = [element("option", "cluster", value="cluster")]
    if findings.confidence is not None:
        choices.append(element("option", "confidence", value="confidence"))
    choices += [
        element("option", f"clusters of {view.name} alone", value=place)
        for place, view in enumerate(findings.views)
        if view.own is not None
    ]
    tools = element(
        "div",
        element("label", "Colour by ", element("select", choices, id="colour")),
        element("label", "Find sample ", element("input", id="find", type="search", placeholder="id", autocomplete="off")),
        element("button", "Show all", type="button", id="all"),
        element("button", "Hide all", type="button", id="none"),
        class_="tools",
    )
    legend = element("div", keys, class_="legend", role="group", aria_label="Clusters to show")
    main = element(
        "div",
        _canvas("map", f"Map of {count(n_shown)} samples, coloured by cluster"),
        class_="map main",
    )
    parts = [tools, legend, main, element("p", method + subset, class_="small")]
    parts.append(element("div", id="sample", class_="sample", aria_live="polite"))
    if len(findings.views) > 1:
        parts += _view_maps(findings, n_shown, n_view_points)
    return section(
        "maps",
        "Map of the samples",
        "Every dot is a sample; samples that the views together find similar are near each other. Point at a dot to see "
        "it in all maps, click on it to keep it, click on a cluster to hide it.",
        *parts,
    )


def _canvas(name: str, label: str) -> list[Html]:
    return [
        element("canvas", id=name, role="img", aria_label=label),
        element("canvas", class_="overlay", aria_hidden="true"),
    ]


def _view_maps(findings: Findings, n_shown: int, n_view_points: int) -> list[Html]:
    maps = [
        element(
            "figure",
            element("figcaption", view.name),
            element("div", _canvas(f"view-{place}", f"Map of the samples as {view.name} alone sees them"), class_="map"),
        )
        for place, view in enumerate(findings.views)
    ]
    subset = "" if n_view_points >= n_shown else f" Each shows {count(n_view_points)} of the samples, drawn at random."
    how = "The same samples as each view alone arranges them (principal directions of its own partition)."
    if all(view.rows is None for view in findings.views):
        how = "The same map, coloured by the clusters of every single partition."
    by_own = element("option", "clusters of the view alone", value="own")
    by_consensus = element("option", "consensus clusters", value="consensus")
    choice = element("select", [by_consensus, by_own], id="view-colour")
    return [
        element("h3", "The views one by one"),
        element("p", how + subset, class_="what"),
        element("div", element("label", "Colour by ", choice), class_="tools"),
        element("div", maps, class_="grid"),
    ]


def clusters_section(content: ReportContent) -> Html:
    """Sizes, confidence and what sets every cluster apart."""
    findings = content.findings
    colors, shapes = cluster_styles(len(findings.clusters))
    largest = max(
        (abs(trait.effect) for own in content.traits for trait in own if _is_feature(findings, trait)), default=0.0
    )
    cards = []
    for place, name in enumerate(findings.clusters):
        members = findings.labels == place
        size = int(findings.sizes[place])
        facts = f"{count(size)} samples ({size / findings.n_samples:.1%})"
        if findings.confidence is not None and size:
            facts += f", median confidence {np.median(findings.confidence[members]):.2f}"
        own = content.traits[place] if content.traits else []
        cards.append(
            element(
                "article",
                element("h3", swatch(colors[place], shapes[place]), f"Cluster {name}"),
                element("p", facts, class_="small"),
                _trait_table(findings, own, largest, name) if own else None,
                class_="card",
            )
        )
    what = "The clusters one by one"
    kinds = {view.kind for view in findings.views}
    if "features" in kinds:
        what += ", with the features that set each apart: the mean inside minus the mean outside, in standard deviations"
    if "labels" in kinds:
        what += "; for views of labels, the labels most common in it"
    return section("clusters", "Clusters", what + ".", element("div", cards, class_="cards"), _doubtful(findings))


def _is_feature(findings: Findings, trait: Trait) -> bool:
    return any(view.name == trait.view and view.kind == "features" for view in findings.views)


def _trait_table(findings: Findings, traits: list[Trait], largest: float, cluster: str) -> Html:
    strongest = sorted(traits, key=lambda one: -abs(one.effect))[:MOST_TRAITS]
    kept = [trait for trait in traits if trait in strongest]
    rows, before = [], None
    for trait in kept:
        shown = [] if trait.view == before else [element("tr", element("th", trait.view, colspan=3, scope="rowgroup"))]
        before = trait.view
        feature = _is_feature(findings, trait)
        drawn = effect_bar(trait.effect, largest) if feature else bar(trait.effect)
        text = f"{trait.effect:+.2f}" if feature else f"{trait.effect:.0%}"
        hint = f"{trait.inside:.4g} inside, {trait.outside:.4g} outside"
        cells = [
            element("td", trait.feature, class_="name"),
            element("td", drawn, title=hint),
            element("td", text, class_="number", title=hint),
        ]
        rows += [*shown, element("tr", cells)]
    return element("table", element("tbody", rows), class_="traits", aria_label=f"What sets cluster {cluster} apart")


def _doubtful(findings: Findings) -> list[Html] | None:
    """The samples that fit two clusters nearly equally well."""
    if findings.confidence is None or len(findings.clusters) < 2:
        return None
    chosen = np.argsort(findings.confidence, kind="stable")[:MOST_DOUBTFUL]
    views = [view for view in findings.views if view.own is not None][:8]
    rows = []
    for one in chosen:
        name = str(one) if findings.ids is None else findings.ids[one]
        own = [view.own_names[view.own[one]] if view.own is not None and view.own[one] >= 0 else "–" for view in views]
        rows.append([name, findings.clusters[findings.labels[one]], f"{findings.confidence[one]:.3f}", *own])
    return [
        element("h3", "Samples to look at"),
        element("p", "The least sure samples, and what every view alone says about them.", class_="what"),
        table(["sample", "cluster", "confidence", *(view.name for view in views)], rows, label="Least sure samples"),
    ]


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
    header += ["labels that change without it", "stability without it"] if verdicts is not None else []
    rows = []
    for place, view in enumerate(findings.views):
        ends = None if intervals is None else (float(intervals.lower[place]), float(intervals.upper[place]))
        row: list[Any] = [view.name, kinds.get(view.name, KIND_NAMES[view.kind]), count(view.width)]
        row += [f"{weights[place]:.3f}", bar(float(weights[place]), interval=ends)]
        row += [] if ends is None else [f"{ends[0]:.3f} – {ends[1]:.3f}"]
        row += [] if agreement is None else [f"{agreement[place]:.3f}"]
        if verdicts is not None:
            one = verdicts[place]
            row += [f"{one.changed:.1%}", f"{one.gain:+.3f} ± {one.doubt:.3f}"]
        rows.append(row)
    parts = [table(header, rows, label="Weights of the views", text=2)]
    if verdicts is not None:
        parts.append(
            element(
                "p",
                "Stability is how well clusters are found again in other samples; a change within two standard errors is no "
                "change.",
                class_="small",
            )
        )
    if len(content.names) > 2:
        parts += [
            element("h3", "Agreement between views"),
            element(
                "p",
                "How alike the clusters of single views are: 1 is the same clusters, 0 is chance (adjusted Rand index).",
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
        cells += [f"{row.scores[name]:.3f}" if name in row.scores else "–" for name in columns]
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
        "What a few lines of scikit-learn make of the same data: if they do as well, prefer them. The last line is this "
        "report's model.",
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
        parts += [element("h3", "The number of clusters"), element("p", number.reason)]
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
    if selection is not None:
        best = sorted(selection, key=lambda row: -row["score"])[:MOST_CANDIDATES]
        rows = [
            [row["kind"], row["weighing"], f"{row['regularization']:g}", f"{row['score']:.3f} ± {row['spread']:.3f}"]
            for row in best
        ]
        marked = next((place for place, row in enumerate(best) if row["chosen"]), -1)
        header = ["similarity", "views count", "pull to the mean (λ)", "score"]
        left_out = len(selection) - len(best)
        parts += [
            element("h3", "Similarity, weighing and λ"),
            element("p", selection.reason),
            table(header, rows, label="Candidates by score", text=2, marked=marked),
            element("p", f"{left_out} candidates with lower scores are left out.", class_="small") if left_out else None,
        ]
    return section(
        "choices",
        "What was chosen, and why",
        "The method tries several settings and takes the default unless another is better beyond chance; no known classes "
        "are used.",
        *parts,
    )


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
        "convergence", "Convergence", "The value that the method improves step by step, until it stops changing.", *parts
    )


def holes_section(content: ReportContent) -> Html | None:
    """Which samples are in which views."""
    findings = content.findings
    observed = findings.observed
    if observed.all():
        return None
    coverage = [
        [view.name, count(np.count_nonzero(view.observed)), f"{np.mean(view.observed):.1%}", bar(view.observed.mean())]
        for view in findings.views
    ]
    patterns = Counter(map(tuple, observed.tolist())).most_common()
    rows = []
    for pattern, times in patterns[:MOST_PATTERNS]:
        marks = [
            element("span", class_="seen" if here else "unseen", role="img", aria_label="seen" if here else "missing")
            for here in pattern
        ]
        median = "–"
        if findings.confidence is not None:
            median = f"{np.median(findings.confidence[(observed == pattern).all(axis=1)]):.2f}"
        rows.append([count(times), f"{times / len(observed):.1%}", median, *marks])
    more = len(patterns) - MOST_PATTERNS
    return section(
        "holes",
        "Holes in the data",
        "Which samples are in which views; a filled square is a view that the samples have.",
        table(["view", "samples", "share", ""], coverage, label="Samples per view"),
        element("h3", "Patterns"),
        table(
            ["samples", "share", "median confidence", *(view.name for view in findings.views)],
            rows,
            label="Patterns of missing views",
            text=0,
        ),
        element("p", f"{more} rarer patterns are left out.", class_="small") if more > 0 else None,
    )


def reproduce_section(content: ReportContent) -> Html:
    """Python lines, versions, seed, parameters."""
    findings, model = content.findings, content.findings.model
    names = [view.name for view in findings.views]
    lines = [
        "import latefusion as lf",
        "from latefusion.report import write_report",
        "",
        f"# views: {', '.join(map(repr, names[:10]))}{', ...' if len(names) > 10 else ''}; {findings.n_samples} samples",
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
