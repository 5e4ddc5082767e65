"""HTML and JSON in which no text can become code: whatever is not `Html` already is escaped.

User text (names of views, features, samples, titles) reaches the page in two ways only: as text or attribute of an
element, through `element`, and as data for the script, through `json_block`. The script in turn writes text, never
HTML.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

# Elements without content.
VOID = frozenset({"br", "col", "input", "line", "circle", "rect", "polyline", "polygon", "path"})
# Characters that HTML does not allow, not even as a number, beside tab and line breaks.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Html(str):
    """Text that is HTML already, and is not escaped again."""

    __slots__ = ()


def escape(value: Any) -> Html:
    """A value as HTML text, also fit for a quoted attribute; `Html` stays as it is.

    Parameters
    ----------
    value : object

    Returns
    -------
    Html

    Examples
    --------
    >>> from latefusion.report.markup import escape
    >>> escape("<script>alert('1')</script>")
    '&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;'
    """
    if isinstance(value, Html):
        return value
    return Html(html.escape(FORBIDDEN.sub("\ufffd", str(value))))


def element(name: str, *children: Any, **attributes: Any) -> Html:
    """One HTML element.

    Parameters
    ----------
    name : str
    *children : object
        Text (escaped), `Html`, or lists of these; None is left out.
    **attributes : object
        Values are escaped. ``class_`` is class, other underscores are hyphens; None and False leave one out, True
        gives it without a value.

    Returns
    -------
    Html

    Examples
    --------
    >>> from latefusion.report.markup import element
    >>> element("p", "a < b", class_="note", aria_label='"x"')
    '<p class="note" aria-label="&quot;x&quot;">a &lt; b</p>'
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Html(f"<{name}{written}>" if name in ("br", "col", "input") else f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Any) -> Html:
    """Children one after the other, lists flattened."""
    if children is None:
        return Html("")
    if isinstance(children, (list, tuple)):
        return Html("".join(join(child) for child in children))
    return escape(children)


def json_block(data: Any) -> Html:
    r"""Data as JSON that may stand in a script element: no ``</script>``, no ``<!--``, ASCII only.

    Parameters
    ----------
    data : object

    Returns
    -------
    Html

    Examples
    --------
    >>> from latefusion.report.markup import json_block
    >>> print(json_block({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Html(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
