"""Formulas as MathML: every current browser draws it, without a script, a font or a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def inline_math(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula within a line."""
    translator.body.append(to_mathml(node, as_block=False))
    raise nodes.SkipNode


def display_math(translator: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own, with its number where it has a label; wide ones scroll by themselves."""
    number = ""
    if node["number"]:
        number = f'<span class="eqno">({get_node_equation_number(translator, node)})</span>'
    identifier = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    formula = to_mathml(node, as_block=True)
    translator.body.append(f'<div class="formula"{identifier}>{formula}{number}</div>\n')
    raise nodes.SkipNode


def to_mathml(node: nodes.Element, *, as_block: bool) -> str:
    """The formula of a node; one that cannot be translated is a warning, hence an error of `make docs`."""
    # docutils never closes what \boldsymbol opens; \mathbf is bold for Greek letters, too.
    formula = node.astext().replace(r"\boldsymbol", r"\mathbf")
    try:
        # A norm is as tall as its letters: a bar that grows would grow on its left side only.
        return tex2mathml(formula, as_block=as_block).replace("<mo>‖", '<mo stretchy="false">‖')
    except MathError as error:
        logger.warning("no MathML for %r: %s", formula, error, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register as the renderer of mathematics."""
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
