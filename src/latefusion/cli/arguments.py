"""Types of arguments: conversion of command line text to checked values."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

LARGEST_SEED = 2**32 - 1


def file_path(text: str) -> Path:
    """A path. Empty text is an error: it comes from unset shell variables and would mean the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name of a file or folder is empty")
    return Path(text)


def positive_number(text: str) -> int:
    """An integer >= 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer >= 1, got {text!r}")
    return int(text)


def seed(text: str) -> int:
    """A seed for NumPy."""
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"must be an integer from 0 to {LARGEST_SEED}, got {text!r}")
    return int(text)


def add_seed_argument(parser: argparse.ArgumentParser) -> None:
    """The option for the seed."""
    parser.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")


def add_clusters_argument(parser: argparse.ArgumentParser, default: str | None, shown: str) -> None:
    """The option for the number of clusters; `shown` describes the default."""
    parser.add_argument(
        "-k",
        "--clusters",
        type=number_of_clusters,
        default=default,
        metavar="K",
        help=f"number of clusters: a number (5), a list to choose from (2,4,6), a range to choose from (2-8), or auto; "
        f"default: {shown}",
    )


def number_of_clusters(text: str) -> Any:
    """The value of ``n_clusters``: an int for 5, a list for 2,4,6, a range for 2-8, or "auto"."""
    if text == "auto":
        return text
    words = text.replace(" ", "")
    least, dash, most = words.partition("-")
    numbers = [least, most] if dash else words.split(",")
    if not all(one.isdecimal() for one in numbers):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number such as 5, a list such as 2,4,6, a range such as 2-8, or auto"
        )
    values = [int(one) for one in numbers]
    if len(values) == 1:
        if values[0] < 1:
            raise argparse.ArgumentTypeError(f"the number of clusters must be at least 1, got {text}")
        return values[0]
    if min(values) < 2:
        raise argparse.ArgumentTypeError(f"all numbers to choose from must be at least 2, got {text}")
    if not dash:
        return values
    if values[0] > values[1]:
        raise argparse.ArgumentTypeError(f"the range {text} is empty: write the smaller number first")
    return range(values[0], values[1] + 1)
