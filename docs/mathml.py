"""Sphinx extension: formulas as MathML, which browsers display without scripts and without network."""

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging


def visit_math(translator, node):
    """Write a formula in a line of text."""
    translator.body.append(convert(node, node.astext(), as_block=False))
    raise SkipNode


def visit_displaymath(translator, node):
    """Write a displayed formula."""
    text = node.astext().strip()
    formula = rf"\begin{{align*}}{text}\end{{align*}}" if r"\\" in text else text
    translator.body.append(f'<div class="math">{convert(node, formula, as_block=True)}</div>\n')
    raise SkipNode


def convert(node, formula, as_block):
    """Return a formula as MathML; warn if it cannot be converted."""
    try:
        return tex2mathml(formula, as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", formula, error, location=node)
        return ""


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True}
