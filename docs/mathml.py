"""Sphinx extension: formulas as MathML, which browsers display without scripts and without network."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util import logging


def visit_math(translator, node):
    """Write a formula in a line of text."""
    translator.body.append(to_mathml(node, "inline"))
    raise SkipNode


def visit_displaymath(translator, node):
    """Write a displayed formula."""
    translator.body.append(f'<div class="formula">{to_mathml(node, "block")}</div>\n')
    raise SkipNode


def to_mathml(node, display):
    """Return the formula of a node as MathML; warn about commands that are not converted."""
    formula = convert(node.astext().strip(), display=display)
    if unknown := re.findall(r"\\\w+", formula):
        logging.getLogger(__name__).warning("formula with unknown commands: %s", ", ".join(unknown), location=node)
    return formula


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
