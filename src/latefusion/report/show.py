"""The report inside a notebook."""

from __future__ import annotations

import html
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from latefusion.atomic_files import atomic_write
from latefusion.outputs.targets import REPORT, Target, check_targets
from latefusion.report.write import write_report

# What the page may do inside a notebook: run its script, download tables, and open links.
SANDBOX = "allow-scripts allow-downloads allow-popups"


@dataclass(frozen=True, repr=False)
class Report:
    """A report that notebooks show below the cell.

    Attributes
    ----------
    page : str
        The HTML page.
    height : int
        Height in a notebook, in pixels.
    """

    page: str
    height: int = 800

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path-like
            File to write, which ends in ``.html`` or ``.htm``. An older report is replaced.
        force : bool, default=False
            Whether to replace an existing file that is not a report, too.

        Returns
        -------
        Path
        """
        path = Path(path)
        check_targets([Target(path, REPORT)], force=force)
        with atomic_write(path) as stream:
            stream.write(self.page.encode("utf-8"))
        return path

    def __repr__(self) -> str:
        return f"Report({len(self.page.encode('utf-8'))} bytes of HTML; save(path) writes it to a file)"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="latefusion report" sandbox="{SANDBOX}" srcdoc="{html.escape(self.page)}" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #ccc"></iframe>'
        )


def show(model: Any, X: Any, *, height: int = 800, **options: Any) -> Report:
    """The report of a fitted model, for a notebook.

    Parameters
    ----------
    model : fitted estimator
    X : as in `write_report`
    height : int, default=800
        Height in the notebook, in pixels.
    **options : keyword arguments
        Those of `write_report`.

    Returns
    -------
    Report
        As the last value of a cell it shows the page. ``save(path)`` writes it to a file.

    Examples
    --------
    >>> import latefusion as lf
    >>> from latefusion.report import show
    >>> data = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0)
    >>> model = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    >>> report = show(model, data.views, baselines=False, embedding="pca")
    >>> report._repr_html_().startswith("<iframe"), "<h1>3 clusters of 90 samples</h1>" in report.page
    (True, True)
    """
    with tempfile.TemporaryDirectory(prefix="latefusion-") as folder:
        file = write_report(model, X, Path(folder, "report.html"), **options)
        return Report(file.read_text(encoding="utf-8"), height)
