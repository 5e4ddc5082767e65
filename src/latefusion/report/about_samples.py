"""Sections about the samples: in short, warnings, maps, clusters, holes; None where nothing is to be said."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from latefusion.experiments.comparison import SCORES
from latefusion.metrics import clustering_scores
from latefusion.plots.canvas import middle_cut
from latefusion.report.content import ReportContent
from latefusion.report.findings import Findings, shorten
from latefusion.report.judgement import UNSURE
from latefusion.report.markup import Html, element
from latefusion.report.pieces import bar, cluster_styles, count, effect_bar, section, signed, swatch, table
from latefusion.report.profiles import Trait

# Rows of tables that would otherwise grow with the data.
MOST_TRAITS = 20
MOST_PATTERNS = 20
MOST_DOUBTFUL = 10
# A sample of this confidence sits clearly in its cluster; below `UNSURE` it lies between clusters.
SURE = 0.5
# Names of features that are longer lose their middle: what tells columns apart stands at an end.
LONGEST_FEATURE = 40
# Weights that differ by less are called alike.
ALIKE = 0.05
# Clusterings with a higher adjusted Rand index are called nearly the same.
SAME = 0.95


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
    sentences = [f"Every cluster has {count(sizes.max())} samples."]
    if sizes.min() < sizes.max():
        largest, least = (f"{count(size)} ({size / sizes.sum():.1%})" for size in (sizes.max(), sizes.min()))
        sentences = [f"The largest cluster has {largest} of the samples, the smallest {least}."]
    if findings.confidence is not None:
        sure, unsure = np.mean(findings.confidence >= SURE), np.mean(findings.confidence < UNSURE)
        sentences.append(
            f"{sure:.0%} of the samples sit clearly in their cluster (confidence {SURE} or more); {unsure:.0%} lie "
            f"between clusters (below {UNSURE})."
        )
    sentences += _view_sentences(content)
    sentences += _plain_sentence(content)
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
        if weights[top] - weights[last] < ALIKE:
            found.append(f"All views count about alike (weights {weights[last]:.2f} to {weights[top]:.2f}).")
        else:
            found.append(
                f"View {findings.views[top].name} counts most (weight {weights[top]:.2f}), {findings.views[last].name} "
                f"least ({weights[last]:.2f})."
            )
    if judgement.important:
        found.append(f"Without {shorten(judgement.important, 5)} the clusters would be less stable: keep.")
    for name, why in judgement.droppable[:5]:
        found.append(f"View {name} could be dropped: {why}.")
    if len(findings.views) > 1 and not judgement.droppable and content.explanation.verdicts is not None:
        found.append("No view does harm: none needs to be dropped.")
    return found


def _plain_sentence(content: ReportContent) -> list[str]:
    """Whether the reader could have had it simpler."""
    plain = [] if content.lines is None else content.lines.rows[:-1]  # the last is ours
    same = [row for row in plain if row.scores.get("agreement", 0.0) >= SAME]
    if not same:
        return []
    best = max(same, key=lambda row: row.scores["agreement"])
    told = f"{best.method}, with an adjusted Rand index of {best.scores['agreement']:.2f}"
    complete = int(content.findings.observed.all(axis=1).sum())
    if complete < content.findings.n_samples:
        return [
            f"On the {count(complete)} samples that are in every view, a plain method finds nearly the same clusters: "
            f"{told}. It says nothing about the others."
        ]
    return [f"A plain method finds nearly the same clusters: {told}. Prefer it if labels are all you need."]


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


def map_section(content: ReportContent, method: str, view_method: str, n_shown: int, n_view_points: int) -> Html:
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
        element(
            "label", "Find sample ", element("input", id="find", type="search", placeholder="id", autocomplete="off")
        ),
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
    parts: list[Any] = [tools, legend, main, element("p", method + subset, class_="small")]
    parts.append(element("div", id="sample", class_="sample", aria_live="polite"))
    if len(findings.views) > 1:
        parts += _view_maps(findings, view_method, n_shown, n_view_points)
    return section(
        "maps",
        "Map of the samples",
        "Every dot is a sample; samples that the views together find similar are near each other. Point at a dot to "
        "see it in all maps, click on it to keep it, click on a cluster to hide it.",
        *parts,
    )


def _canvas(name: str, label: str) -> list[Html]:
    return [
        element("canvas", id=name, role="img", aria_label=label),
        element("canvas", class_="overlay", aria_hidden="true"),
    ]


def _view_maps(findings: Findings, method: str, n_shown: int, n_view_points: int) -> list[Html | None]:
    maps = [
        element(
            "figure",
            element("figcaption", view.name),
            element(
                "div", _canvas(f"view-{place}", f"Map of the samples as {view.name} alone sees them"), class_="map"
            ),
        )
        for place, view in enumerate(findings.views)
    ]
    subset = "" if n_view_points >= n_shown else f" Each shows {count(n_view_points)} of the samples, drawn at random."
    how = "The same samples as each view alone arranges them."
    if not method:
        how = "The same map for every partition; colour it by what the partition says."
    by_own = element("option", "clusters of the view alone", value="own")
    by_consensus = element("option", "consensus clusters", value="consensus")
    # Labels differ in colour only, features in place.
    choice = element("select", [by_consensus, by_own] if method else [by_own, by_consensus], id="view-colour")
    return [
        element("h3", "The views one by one"),
        element("p", how, class_="what"),
        element("div", element("label", "Colour by ", choice), class_="tools"),
        element("div", maps, class_="grid"),
        element("p", method + subset, class_="small") if method or subset else None,
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
        what += (
            ", with the features that set each apart: the mean inside minus the mean outside, in standard deviations"
        )
    if "labels" in kinds:
        what += ", with the most common labels of every view of labels"
    return section("clusters", "Clusters", what + ".", element("div", cards, class_="cards"), _doubtful(findings))


def _is_feature(findings: Findings, trait: Trait) -> bool:
    return any(view.name == trait.view and view.kind != "labels" for view in findings.views)


def _trait_table(findings: Findings, traits: list[Trait], largest: float, cluster: str) -> Html:
    strongest = sorted(traits, key=lambda one: -abs(one.effect))[:MOST_TRAITS]
    kept = [trait for trait in traits if trait in strongest]
    rows, before = [], None
    for trait in kept:
        shown = [] if trait.view == before else [element("tr", element("th", trait.view, colspan=3, scope="rowgroup"))]
        before = trait.view
        feature = _is_feature(findings, trait)
        drawn = effect_bar(trait.effect, largest) if feature else bar(trait.effect)
        text = signed(trait.effect, 2) if feature else f"{trait.effect:.0%}"
        name = middle_cut(trait.feature, LONGEST_FEATURE)
        hint = f"{trait.inside:.4g} inside, {trait.outside:.4g} outside"
        cells = [
            element("td", element("span", name, title=trait.feature), class_="name"),
            element("td", drawn, title=hint),
            element("td", text, class_="number", title=hint),
        ]
        rows += [*shown, element("tr", cells)]
    widths = element("colgroup", [element("col") for _ in range(3)])
    return element(
        "table", widths, element("tbody", rows), class_="traits", aria_label=f"What sets cluster {cluster} apart"
    )


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
