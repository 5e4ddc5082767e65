"""Sizes of a stored data set, without reading its values."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Header(NamedTuple):
    """Sizes of a stored data set.

    Attributes
    ----------
    n_samples : int
    n_views : int
    n_classes : int or None
        None where there are no labels.
    kind : {"features", "kernels"}
    """

    n_samples: int
    n_views: int
    n_classes: int | None
    kind: Literal["features", "kernels"]
