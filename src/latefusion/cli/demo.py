"""`latefusion demo`: five views of the digits data of scikit-learn, clustered by baselines and our methods."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from latefusion.cli.answers import add_force_argument, add_json_argument, make_folder, print_json
from latefusion.cli.arguments import add_seed_argument, file_path
from latefusion.cli.terminal import progress
from latefusion.datasets import load_digits_views
from latefusion.estimators import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering
from latefusion.experiments import Comparison, fit_and_score, run_baselines
from latefusion.outputs import check_targets
from latefusion.outputs.targets import Kind, Target
from latefusion.plots import draw_overview
from latefusion.progress import progress_steps
from latefusion.tables import format_table

EXAMPLES = """\
examples:
  latefusion demo                       a table, and demo-output/digits.png
  latefusion demo --no-figure --seed 1  other starts, no figure: works without matplotlib
"""

OURS = "LateFusionClustering"
FIGURE = "digits.png"
PNG = Kind("a PNG image", lambda path: path.read_bytes()[:4] == b"\x89PNG")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "--output", type=file_path, default=Path("demo-output"), help="folder for the figure (default: %(default)s)"
    )
    add_seed_argument(parser)
    parser.add_argument("--no-figure", action="store_true", help="print only")
    add_force_argument(parser)
    add_json_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Cluster, draw, print."""
    if not options.no_figure:
        make_folder(options.output)
        check_targets([Target(options.output / FIGURE, PNG, "--output")], force=options.force)
    data = load_digits_views()
    n_clusters = len(data.target_names)
    models = models_of(n_clusters, options.seed)
    with progress("clustering"), progress_steps(1 + len(models)) as begin_step:
        begin_step("baselines")
        rows = run_baselines(data.views, n_clusters, target=data.target, random_state=options.seed)
        for name, model in models.items():
            begin_step(name)
            rows.append(fit_and_score(name, model, data.views, data.target))
    figure = None
    if not options.no_figure:
        with progress("drawing"):
            figure = draw({name: model for name, model in models.items() if "kernel" not in name}, options.output)
    if options.json:
        print_json(
            {
                "methods": Comparison(rows).records(),
                "models": {name: _record(model) for name, model in models.items()},
                "figure": None if figure is None else str(figure),
            }
        )
        return
    with progress("leaving out one view at a time"):
        reasons = explanation(models[OURS])
    print(f"{len(data.views)} handwritten digits, {data.views.n_views} views: {', '.join(data.views.names)}")
    print("The known classes are used for the scores only.\n")
    print(Comparison(rows))
    for name, model in models.items():
        print(f"\n{name}\n")
        print(weights_table(model))
        print(convergence_line(model))
        if name == OURS:
            print(reasons)
    if not options.no_figure:
        print(
            f"\nFigure: {figure}"
            if figure
            else "\nNo figure: matplotlib is not installed (pip install 'latefusion[plot]')."
        )


def _record(model: Any) -> dict[str, Any]:
    """Weights, agreement and objective of a model, in types of JSON."""
    return {
        "view_weights": dict(zip(map(str, model.view_names_), model.view_weights_.tolist(), strict=True)),
        "agreement": dict(zip(map(str, model.view_names_), model.agreement_.tolist(), strict=True)),
        "objective": [float(value) for value in model.objective_],
    }


def models_of(n_clusters: int, seed: int) -> dict[str, Any]:
    """Late fusion with all choices made without labels, and both alignments with both similarities."""
    alignments = {"GAM": GlobalAlignmentClustering, "LAM": LocalAlignmentClustering}
    models: dict[str, Any] = {OURS: LateFusionClustering(n_clusters, random_state=seed)}
    for short_name, estimator in alignments.items():
        for similarity in ("kernel", "graph"):
            name = f"LF-MVC-{short_name}, {similarity} partitions"
            models[name] = estimator(n_clusters, similarity=similarity, random_state=seed)
    return models


def weights_table(model: Any) -> str:
    """Weight and agreement of every view."""
    cells = zip(model.view_names_, model.view_weights_, model.agreement_, strict=True)
    return format_table(
        ["view", "weight", "agreement"], [[name, f"{weight:.3f}", f"{agree:.3f}"] for name, weight, agree in cells]
    )


def explanation(model: LateFusionClustering) -> str:
    """The kind of values in each view, the reason for the choice, and the importance of each view."""
    kinds = ", ".join(f"{name} ({kind})" for name, kind in model.view_kinds_.items())
    verdicts = "\n".join(map(str, model.leave_one_view_out()))
    return f"views: {kinds}\n{model.selection_.reason}\n{verdicts}"


def convergence_line(model: Any) -> str:
    """The objective, from the first iteration to the last."""
    values = model.objective_
    shown = " ".join(f"{value:.4f}" for value in (values if len(values) <= 8 else [*values[:4], *values[-4:]]))
    return f"objective over {model.n_iter_} iterations{' (first and last four)' if len(values) > 8 else ''}: {shown}"


def draw(models: dict[str, Any], folder: Path) -> Path | None:
    """One figure: the consensus map, the view weights, and the convergence of all models."""
    path = folder / FIGURE
    try:
        draw_overview(models, path)
    except ImportError:
        return None
    return path
