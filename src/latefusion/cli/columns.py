"""Options about the columns of tables: their kinds, and the views that they form."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

from latefusion.types import Views

AUTO = "auto"
# Options that set the kind of a column.
KIND_OPTIONS = {
    "category": "category",
    "number": "number",
    "date": "date",
    "duration": "duration",
    "text": "text",
    "drop": "drop",
}
HELP = {
    "category": "a column of categories, even if these are numbers, such as zip codes",
    "number": "a column of numbers",
    "date": "a column of dates",
    "duration": "a column of durations, such as 1:30 or 0:05:20; numbers are seconds",
    "text": "a column of free text",
    "drop": "a column that is not used",
}


def add_column_arguments(parser: argparse.ArgumentParser) -> None:
    """Options for the columns of tables."""
    for name in KIND_OPTIONS:
        parser.add_argument(
            f"--{name}", action="append", default=[], metavar="COLUMN", help=f"{HELP[name]}; may be repeated"
        )
    parser.add_argument(
        "--ordered",
        action="append",
        default=[],
        metavar="COLUMN=A,B,...",
        help="a column of categories with an order, from the lowest to the highest; may be repeated",
    )
    parser.add_argument(
        "--missing-values",
        type=number_or_word,
        metavar="VALUE",
        help="a number or word that is a missing value in every file, such as -999; empty cells and NA always are",
    )
    add_missing_columns_argument(parser, "in new samples, `latefusion predict` takes absent columns as missing values")
    parser.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="VIEW=NUMBER",
        help="how much a view counts, relative to 1 for the others; may be repeated",
    )
    parser.add_argument(
        "--view",
        action="append",
        default=[],
        metavar="NAME=COLUMN,...",
        help="a view of one table, by its columns or patterns such as spend_*; may be repeated",
    )
    parser.add_argument(
        "--views",
        metavar="auto|FILE",
        help="views of one table: auto groups the columns by kind, FILE is a table of columns and their views",
    )


def add_missing_columns_argument(parser: argparse.ArgumentParser, effect: str) -> None:
    """The option for columns that new samples do not have."""
    parser.add_argument("--missing-columns", choices=["error", "allow"], help=f"allow: {effect} (default: error)")


def number_or_word(text: str) -> float | str:
    """A value in a table: a number if it can be one, as the tables are read."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def view_weights(options: argparse.Namespace) -> dict[str, float] | None:
    """The parameter ``view_weights``; None if no option is given.

    Parameters
    ----------
    options : Namespace

    Returns
    -------
    dict of str to float or None
    """
    found: dict[str, float] = {}
    for text in options.weight:
        name, sign, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            sign = ""
        if not sign or not name:
            raise ValueError(f"--weight {text!r} must be VIEW=NUMBER, such as rna=2.")
    return found or None


def column_kinds(options: argparse.Namespace) -> dict[str, Any] | None:
    """The parameter ``column_kinds``; None if no option is given.

    Parameters
    ----------
    options : Namespace

    Returns
    -------
    dict of str to str or list of str, or None
    """
    found: dict[str, Any] = {}
    for name, kind in KIND_OPTIONS.items():
        for column in getattr(options, name):
            _check_once(column, found, name)
            found[column] = kind
    for text in options.ordered:
        column, sign, levels = text.partition("=")
        words = [word.strip() for word in levels.split(",") if word.strip()]
        if not sign or len(words) < 2:
            raise ValueError(f"--ordered {text!r} must be COLUMN=LOWEST,...,HIGHEST, with at least two categories.")
        _check_once(column, found, "ordered")
        found[column] = words
    return found or None


def _check_once(column: str, found: dict[str, Any], name: str) -> None:
    if column in found:
        raise ValueError(f"Column {column!r} has two kinds: --{name} and {found[column]!r}. Give one.")


def view_columns(options: argparse.Namespace) -> dict[str, list[str]] | str | None:
    """The parameter ``views``; None if every file is a view.

    Parameters
    ----------
    options : Namespace

    Returns
    -------
    dict of str to list of str, "auto" or None
    """
    if options.view and options.views is not None:
        raise ValueError("Use either --view or --views.")
    if options.views is not None:
        return AUTO if options.views == AUTO else read_view_file(Path(options.views))
    found: dict[str, list[str]] = {}
    for text in options.view:
        name, sign, columns = text.partition("=")
        names = [one.strip() for one in columns.split(",") if one.strip()]
        if not sign or not name or not names:
            raise ValueError(f"--view {text!r} must be NAME=COLUMN,COLUMN,...")
        if name in found:
            raise ValueError(f"--view {name!r} is given twice. List all of its columns in one option.")
        found[name] = names
    return found or None


def read_view_file(file: Path) -> dict[str, list[str]]:
    """The columns of every view, from a table with one row per column: its name, and its view.

    Parameters
    ----------
    file : Path
        Separated by commas, semicolons or tabs. A first row ``column,view`` is a heading.

    Returns
    -------
    dict of str to list of str
    """
    if not file.is_file():
        raise FileNotFoundError(f"File not found: {str(file)!r}. --views takes 'auto' or a table of columns and views.")
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        sign = next((one for one in "\t;" if one in line), ",")
        fields = [one.strip() for one in next(csv.reader([line], delimiter=sign), [])]
        if not any(fields) or (number == 1 and [one.lower() for one in fields] == ["column", "view"]):
            continue
        if len(fields) != 2 or not all(fields):
            raise ValueError(f"{str(file)!r}, line {number}: expected a column and its view, got {line!r:.60}.")
        found.setdefault(fields[1], []).append(fields[0])
    if not found:
        raise ValueError(f"{str(file)!r} contains no columns. Write one line 'column,view' per column.")
    return found


def one_table(views: Views) -> Any:
    """The data frame of the only table, with the sample ids as index.

    Parameters
    ----------
    views : Views
        Data frames, as `with_columns` returns them.

    Returns
    -------
    DataFrame
    """
    if views.n_views != 1 or not hasattr(views.arrays[0], "columns"):
        raise ValueError(
            f"--view and --views divide the columns of one table, but the files contain {views.n_views} views: "
            f"{', '.join(views.names)}. Give one table, or leave these options out."
        )
    frame = views.arrays[0]
    return frame if views.sample_ids is None else frame.set_axis(views.sample_ids, axis=0)
