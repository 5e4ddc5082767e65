"""Labels and profiles as files that the page contains as links."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.interpretation.cluster_profiles import profile_table
from latefusion.interpretation.effects import Effects
from latefusion.interpretation.gather import ModelData
from latefusion.outputs.labels import Labels
from latefusion.outputs.table_files import write_text

# Features of every cluster in the file of profiles, and rows of the file.
MOST_FEATURES, MOST_PROFILE_ROWS = 20, 500
# Digits of confidence and novelty after the point, and of numbers in profiles.
DIGITS, PROFILE_DIGITS = 4, 6


class Download(NamedTuple):
    """A file in a link.

    Attributes
    ----------
    name : str
        Of the file.
    text : str
        Of the link.
    url : str
        Data URL with the whole content.
    """

    name: str
    text: str
    url: str


def downloads(data: ModelData, effects: Sequence[Effects]) -> list[Download]:
    """Labels of all samples, and the largest effects of every cluster as `latefusion.profiles` has them.

    Parameters
    ----------
    data : ModelData
    effects : sequence of Effects
        With tests.

    Returns
    -------
    list of Download
    """
    confidence, novelty = (
        None if one is None else np.round(one.astype(np.float64), DIGITS) for one in (data.confidence, data.novelty)
    )
    ids = None if data.ids is None else np.array(data.ids, dtype=object)
    found = Labels(ids, np.array(data.clusters, dtype=object)[data.labels], confidence, novelty)
    files = [Download("labels.csv", "Labels", _url(found.table()))]
    most = max(1, min(MOST_FEATURES, MOST_PROFILE_ROWS // max(1, len(data.clusters))))
    profiles = profile_table(effects, np.arange(len(data.clusters))).top(most) if effects else None
    if profiles is not None and len(profiles):
        columns = {name: _short(values) for name, values in profiles.columns.items()}
        columns["cluster"] = np.array(data.clusters, dtype=object)[profiles["cluster"]]
        text = f"Profiles ({most} largest effect{'s' * (most > 1)} of every cluster)"
        files.append(Download("profiles.csv", text, _url(columns)))
    return files


def _short(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers with a few digits."""
    if values.dtype.kind != "f":
        return values
    return np.array([float(f"{one:.{PROFILE_DIGITS}g}") for one in values.tolist()])


def _url(columns: Mapping[str, NDArray[Any]]) -> str:
    stream = io.BytesIO()
    write_text({name: _encodable(values) for name, values in columns.items()}, stream)
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(stream.getvalue()).decode()


def _encodable(values: NDArray[Any]) -> NDArray[Any]:
    """Texts without halves of surrogate pairs, which UTF-8 does not have."""
    if values.dtype.kind != "O":
        return values
    texts = [one.encode("utf-8", "replace").decode() if isinstance(one, str) else one for one in values.tolist()]
    return np.array(texts, dtype=object)
