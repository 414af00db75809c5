"""Default values in docstrings are those of the signatures."""

import ast
import importlib
import inspect
import pkgutil
import re

import pytest

import spmld

DEFAULT = re.compile(r"^ *([\w, ]+) : .*\bdefault=(.+?)$", re.MULTILINE)
MODULES = [
    module.name
    for module in pkgutil.walk_packages(spmld.__path__, "spmld.")
    if not re.search(r"\.(cli|dask|__main__)\b", module.name)
]


def documented(thing):
    """Return the documented default values that are literals, by the names of the parameters."""
    text, _, _ = (inspect.getdoc(thing) or "").partition("\nReturns\n")
    for names, value in DEFAULT.findall(text):
        try:
            yield from ((name.strip(), ast.literal_eval(value)) for name in names.split(","))
        except (SyntaxError, ValueError):  # an expression such as QuantileSchedule()
            continue


def members(module):
    """Return the functions, classes and methods that a module defines."""
    for thing in vars(module).values():
        if getattr(thing, "__module__", None) == module.__name__ and callable(thing):
            yield thing
            if inspect.isclass(thing):
                yield from (method for method in vars(thing).values() if inspect.isfunction(method))


@pytest.mark.parametrize("name", MODULES)
def test_documented_defaults_are_those_of_the_signature(name):
    for thing in members(importlib.import_module(name)):
        for parameter, value in documented(thing):
            default = inspect.signature(thing).parameters[parameter].default
            assert (default, type(default)) == (value, type(value)), f"{parameter} of {thing.__qualname__}"
