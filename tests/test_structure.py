"""One carrier of samples, one cross-fit and one formula; calls go down the layers of packages, but for callbacks."""

import ast
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from spmld import SelfPacedEnsemble
from spmld.datasets import make_planted

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "spmld"
TREES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in SOURCE.rglob("*.py")
    if path.relative_to(SOURCE).parts[0] not in ("core", "app")
}


def classes_with(*choices):
    """Return the classes above the core that have a field of each choice of names."""
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                fields = {getattr(item.target, "id", "") for item in node.body if isinstance(item, ast.AnnAssign)}
                if all(fields & choice for choice in choices):
                    yield node.name


def modules_that_read(attribute):
    """Return the modules above the core that read an attribute of any object."""
    for name, tree in TREES.items():
        if any(isinstance(node, ast.Attribute) and node.attr == attribute for node in ast.walk(tree)):
            yield name


def modules_that_import(*names):
    """Return the modules above the core that import one of some names."""
    for name, tree in TREES.items():
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        if any(alias.name in names for node in imports for alias in node.names):
            yield name


def test_row_blocks_are_known_to_the_core_and_the_cluster_only():
    assert {*modules_that_import("Engine", "Rows", "row_ranges")} == {"cluster/engine.py"}


def test_samples_have_one_carrier_and_folds_another():
    """Samples are in memory or on a cluster. Others hold what users load, or pass to any classifier of scikit-learn."""
    expected = {"Samples", "ClusterSamples", "Dataset", "_Passed"}
    assert {*classes_with({"X", "features"}, {"Y", "labels", "signs"})} == expected
    assert {*classes_with({"folds"})} == {"CrossFit"}


def test_predictions_contributions_and_onnx_have_one_formula():
    expected = {"ensemble/ensemble.py", "export/onnx_models.py", "inspection/contributions.py"}
    assert {*modules_that_read("formula_")} == expected
    for part in ("mixture_", "correction_"):
        assert {*modules_that_read(part)} == {"ensemble/ensemble.py"}


@pytest.fixture(scope="module")
def calls():
    """Calls between functions of the library in a fit: pairs of a package and the qualified name of a function."""
    found = set()

    @cache
    def function_of(code):
        path = Path(code.co_filename)
        if SOURCE not in path.parents or code.co_name.startswith("<"):
            return None
        return path.relative_to(SOURCE).parts[0], code.co_qualname

    def profile(frame, event, _):
        callee = function_of(frame.f_code) if event == "call" else None
        caller = frame.f_back
        while callee is not None and caller is not None and function_of(caller.f_code) is None:
            caller = caller.f_back
        if callee is not None and caller is not None:
            found.add((function_of(caller.f_code), callee))

    data = make_planted(n_samples=120, observed_fraction=0.6, random_state=0)
    model = SelfPacedEnsemble(random_state=0)
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        model.fit(data.X, data.Y)
    finally:
        sys.setprofile(before)
    return found


CALLBACKS = {"_fit", "_check_parameters"} | {"fit_samples", "_scores", "lowers_loss"} | {"value", "derivatives"}
"""Methods that are called up the layers: those of subclasses, of estimators in a cross-fit, and of losses."""


def test_calls_go_down_the_layers_except_for_callbacks(calls):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    level = {package: i for i, layer in enumerate(layers) for package in layer.split(" : ")}
    upward = {
        (caller[0], name)
        for caller, (package, name) in calls
        if package in level and level.get(caller[0], -1) > level[package] and "<locals>" not in name
    }
    assert {(package, name) for package, name in upward if name.split(".")[-1] not in CALLBACKS} == set()
    assert ("estimators", "SelfPacedEnsemble._fit") in upward


def test_models_of_folds_are_fitted_by_the_cross_fit(calls):
    fitting = {caller for caller, (_, name) in calls if name == "MultiLabelEstimator.fit_samples"}
    assert fitting == {("model_selection", "fit_samples"), ("estimators", "MultiLabelEstimator.fit")}
