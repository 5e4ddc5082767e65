"""Pages: templates, data, style and script in one file that needs no network.

Templates escape all text (autoescape). Text from the user reaches the page in two ways only: as text or attribute in a
template, and as data for the script through the filter ``json``. The script writes text, never HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from latefusion.plots.canvas import middle_cut
from latefusion.report.terms import OUTCOME_TERMS, TERMS, UPDATE_TERMS
from latefusion.report.widgets import bar_length, decimal, ink_on, integer, percent, signed

# Characters that HTML does not allow, not even as character references, except tab and line breaks.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Page(NamedTuple):
    """A kind of page.

    Attributes
    ----------
    template : str
    styles : tuple of str
        Parts of its style, in their order.
    scripts : tuple of str
        Parts of its script, in their order; the last one begins.
    """

    template: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]


REPORT = Page("page.html", ("style.css",), ("shared.js", "names.js", "colours.js", "curves.js", "maps.js", "script.js"))
LEADERBOARD = Page(
    "leaderboard/page.html",
    ("style.css", "leaderboard/style.css"),
    ("shared.js", "leaderboard/sorting.js", "leaderboard/boards.js", "leaderboard/script.js"),
)


def require_jinja2() -> Any:
    """Import Jinja2, which the extra ``report`` installs."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("The report needs Jinja2: pip install 'latefusion[report]'.") from error
    return jinja2


def render(page: Page = REPORT, /, **content: Any) -> str:
    """Fill in the template of a page.

    Parameters
    ----------
    page : Page, default=REPORT
    **content : object
        Variables of the templates.

    Returns
    -------
    str
    """
    filled = environment().get_template(page.template).render(content | style_and_script(page))
    return FORBIDDEN.sub("\ufffd", filled)


@cache
def environment() -> Any:
    """Templates with filters and the meanings of terms."""
    jinja2 = require_jinja2()
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("latefusion.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    safe = jinja2.utils.markupsafe.Markup
    formats = (bar_length, decimal, ink_on, integer, percent, signed, middle_cut, without_breaks)
    made.filters |= {one.__name__: one for one in formats}
    made.filters |= {"median": lambda values: float(np.median(values)), "json": lambda data: safe(json_text(data))}
    made.globals |= {"terms": TERMS, "outcome_terms": OUTCOME_TERMS, "update_terms": UPDATE_TERMS}
    return made


@cache
def style_and_script(page: Page) -> dict[str, Any]:
    """The style and script that a page contains, and the hash of the script."""
    made = environment()
    safe = require_jinja2().utils.markupsafe.Markup
    style, parts = (
        "\n".join(made.loader.get_source(made, name)[0] for name in names) for names in (page.styles, page.scripts)
    )
    script = f'"use strict";\n(function () {{\n{parts}}})();'
    return {
        "style": safe(style),
        "script": safe(script),
        # Only this script may run, and nothing may be fetched, whatever else the page contains.
        "fingerprint": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def json_text(data: Any) -> str:
    r"""Data as JSON for a script element: without ``</script>`` and ``<!--``, ASCII only.

    Parameters
    ----------
    data : object

    Returns
    -------
    str

    Examples
    --------
    >>> from latefusion.report.html import json_text
    >>> print(json_text({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def without_breaks(text: str) -> str:
    """A sentence in which no line ends between ± and its number."""
    return text.replace("± ", "±\u00a0")
