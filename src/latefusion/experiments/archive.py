"""Results of an evaluation in one file: the content of all tables and most figures, without the data.

The store holds every score of every cell, which is megabytes per data set; an archive holds one line per data set and
method. Scores are rounded to six digits, those of single restarts to five.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from latefusion.experiments.protocol import GAM, LAM
from latefusion.experiments.report import write_text
from latefusion.experiments.sources import Source
from latefusion.experiments.summary import Best, Level, Summary


class Archive(NamedTuple):
    """The results of an evaluation.

    Attributes
    ----------
    code : str
        Version of the code that computed it.
    effort : str
        Description of what was run.
    summaries : list of Summary
        Without the paths of the data. Levels are kept for the alignments only, whose figures need them.
    """

    code: str
    effort: str
    summaries: list[Summary]


def write_archive(path: Path, archive: Archive) -> Path:
    """Write the results of an evaluation as JSON, one line per data set and method."""
    sources = list(dict.fromkeys(one.source for one in archive.summaries))
    head = {"code": archive.code, "effort": archive.effort}
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in head.items()]
    lines.append(_block("sources", [asdict(source) | {"path": ""} for source in sources]))
    lines.append(_block("results", [_packed(one) for one in archive.summaries]))
    return write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def read_archive(path: Path) -> Archive:
    """Read a file of `write_archive`.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Archive
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sources = [Source(**{**one, "use": tuple(one["use"])}) for one in content["sources"]]
        by_name = {source.name: source for source in sources}
        summaries = [_unpacked(one, by_name[one["dataset"]]) for one in content["results"]]
        return Archive(content["code"], content["effort"], summaries)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"{str(path)!r} is not an archive of an evaluation: {reason}.") from error


def merge_archives(archives: Sequence[Archive]) -> Archive:
    """Merge the results of several runs of the same code, for example when data sets were divided among machines.

    Parameters
    ----------
    archives : sequence of Archive

    Returns
    -------
    Archive
        For every data set and method, the result with the fewest missing cells; the first one if there are several.

    Raises
    ------
    ValueError
        If they come from different code, or two of them from different data of the same name.
    """
    codes = list(dict.fromkeys(one.code for one in archives))
    if len(codes) > 1:
        raise ValueError(
            f"The archives come from different code, {' and '.join(codes)}, so their results cannot be merged. Run "
            f"one of them again with the code of the other."
        )
    checksums: dict[str, str] = {}
    found: dict[tuple[str, str], Summary] = {}
    for one in (summary for archive in archives for summary in archive.summaries):
        name, checksum = one.source.name, one.source.checksum
        if checksums.setdefault(name, checksum) != checksum:
            raise ValueError(f"Two archives hold results on different data that are both called {name!r}.")
        known = found.get((name, one.method))
        if known is None or one.n_missing < known.n_missing:
            found[name, one.method] = one
    order = list(checksums)
    summaries = sorted(found.values(), key=lambda one: order.index(one.source.name))
    return Archive(codes[0], " ".join(dict.fromkeys(one.effort for one in archives)), summaries)


def _block(name: str, rows: Sequence[Any]) -> str:
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f'"{name}": [\n{body}\n]'


def _packed(one: Summary) -> dict[str, Any]:
    return {
        "dataset": one.source.name,
        "method": one.method,
        "oracle": {
            metric: {
                "value": round(best.value, 6),
                "parameters": best.parameters,
                "sample": _rounded(best.sample, 5),
                "mean": round(best.mean, 6),
                "lowest_cost": None if best.lowest_cost is None else round(best.lowest_cost, 6),
            }
            for metric, best in one.oracle.items()
        },
        "label_free": {metric: _rounded(sample, 6) for metric, sample in one.label_free.items()},
        "seconds": None if one.seconds is None else float(f"{one.seconds:.4g}"),
        "levels": [[level.parameters, *_rounded(level[1:], 5)] for level in one.levels if one.method in (GAM, LAM)],
        "reasons": dict(one.reasons),
        "n_missing": one.n_missing,
        "n_cells": one.n_cells,
    }


def _unpacked(row: dict[str, Any], source: Source) -> Summary:
    return Summary(
        source,
        row["method"],
        {metric: Best(**{**best, "sample": np.array(best["sample"])}) for metric, best in row["oracle"].items()},
        {metric: np.array(sample) for metric, sample in row["label_free"].items()},
        row["seconds"],
        [Level(*level) for level in row["levels"]],
        Counter(row["reasons"]),
        row["n_missing"],
        row["n_cells"],
    )


def _rounded(values: Any, digits: int) -> list[float]:
    return [round(float(value), digits) for value in values]
