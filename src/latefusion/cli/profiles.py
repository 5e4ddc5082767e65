"""`latefusion profiles`: the features by which the clusters of a saved model differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

import latefusion
from latefusion.cli.answers import add_answer_arguments, check_outputs, print_answer, put_table, written_line
from latefusion.cli.arguments import add_seed_argument, file_path, positive_number
from latefusion.cli.columns import add_missing_columns_argument
from latefusion.cli.inputs import add_file_arguments, described, input_files, translated
from latefusion.cli.predict import open_files, warnings_as_notes
from latefusion.cli.terminal import colored, progress
from latefusion.interpretation import Profiles
from latefusion.outputs.targets import PROFILES
from latefusion.types import Views

EXAMPLES = """\
The files are those that the model was trained on, or new samples, which the model labels. They are matched with the
views of the model as `latefusion predict` does.

The clusters were found with the same features, so the p-values are too small. --honest clusters one half of the samples
again, and tests each view on the other half, labeled by the other views. It needs at least two views.

examples:
  latefusion profiles groups.model genes.csv proteins.csv -o profiles.csv
  latefusion profiles groups.model genes.csv proteins.csv --honest --top 10
  latefusion profiles groups.model genes.csv proteins.csv --json
"""

LEGEND = (
    "effect: difference of the means in standard deviations. auc: probability that a sample of the cluster has a "
    "larger value than one outside. inside, outside: means or medians, or shares of the samples."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "model", type=file_path, metavar="MODEL", help="model file written by `latefusion cluster --save`"
    )
    add_file_arguments(parser, labels=False)
    add_missing_columns_argument(parser, "take columns of the training tables that are absent as missing values")
    parser.add_argument(
        "--honest", action="store_true", help="compute valid p-values: cluster one half of the samples, test the other"
    )
    add_seed_argument(parser)
    parser.add_argument(
        "--top",
        type=positive_number,
        default=5,
        metavar="N",
        help="features per cluster that are printed; -o writes all (default: %(default)s)",
    )
    add_answer_arguments(
        parser, "effect, AUC and p-value of every feature in every cluster", "the features that are printed"
    )


def run(options: argparse.Namespace) -> None:
    """Read the model and the files, compare the features, write and print the results."""
    check_outputs(options, input_files(options), PROFILES)
    model, data, views, notes, *_ = open_files(options, check_is_fitted)
    with warnings_as_notes(notes), progress(f"comparing {len(views)} samples", quiet=options.quiet):
        features = described(data)
        found = latefusion.profiles(
            model, views, features=features or None, honest=options.honest, random_state=options.seed
        )
    given = dict(data.views.items())
    notes += [
        f"View {name!r}: normalized counts are compared."
        for name, one in features.items()
        if one.values is not given[name]
    ]
    put_table(found.columns, options, PROFILES, "profiles")
    top = found.top(options.top)
    answer: dict[str, Any] = {
        "latefusion": latefusion.__version__,
        "model": str(options.model),
        "files": [str(file) for file in options.files],
        "n_samples": len(views),
        "n_comparisons": len(found),
        "honest": options.honest,
        "profiles": top.records(),
        "notes": [translated(note) for note in found.notes],
        "warnings": [*notes, *(_partly_missing(views) if isinstance(views, Views) else [])],
        "output": None if options.output is None else str(options.output),
    }
    print_answer(answer, options, lambda answer: _text(answer, top))


def _text(answer: Mapping[str, Any], top: Profiles) -> str:
    notes = [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in (*answer["notes"], *answer["warnings"])]
    first = f"{answer['n_samples']} samples, {answer['n_comparisons']} comparisons of a cluster with all other samples"
    end = written_line("Profiles", answer, "profiles.csv")
    return "\n".join([first, "", top.to_text(), "", LEGEND, *notes, end])


def _partly_missing(views: Views) -> list[str]:
    """A sentence for every view that some samples do not have."""
    missing = len(views) - views.observed.sum(axis=0)
    return [
        f"View {name!r} is missing for {count} of {len(views)} samples. They are left out of its comparisons."
        for name, count in zip(views.names, missing.tolist(), strict=True)
        if 0 < count < len(views)
    ]
