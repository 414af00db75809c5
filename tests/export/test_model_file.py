"""Model files: loaded models predict like the saved ones; invalid files and untrusted types raise errors."""

import copy
import json
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

import spmld
import spmld.estimators
import spmld.model_selection
import spmld.pacing
from spmld.export import ModelFileError
from spmld.export.contents import is_trusted
from tests.export.cases import MODELS, X, Y, fitted, predictions


class Untrusted(ClassifierMixin, BaseEstimator):
    """A classifier that is not trusted."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


@pytest.fixture
def saved(tmp_path):
    """The file of a small model, and its bytes."""
    path = tmp_path / "model.skops"
    spmld.save(fitted("MaskedLogistic"), path)
    return path, path.read_bytes()


def test_loading_a_model_does_not_import_torch(saved):
    code = "import sys, spmld; spmld.load(sys.argv[1]); print('torch' in sys.modules, end=' '); import torch; "
    code += "from sklearn.externals.array_api_compat import torch as wrapper; print(wrapper.float32 is torch.float32)"
    done = subprocess.run([sys.executable, "-c", code, saved[0]], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_predicts_as_the_saved_one(name, tmp_path):
    path = tmp_path / "model.skops"
    spmld.save(fitted(name), path)
    loaded = spmld.load(path)
    assert type(loaded) is type(fitted(name))
    expected, predicted = predictions(fitted(name)), predictions(loaded)
    assert list(predicted) == list(expected)
    for method, values in expected.items():
        np.testing.assert_array_equal(predicted[method], values)
    if hasattr(loaded, "complete"):
        np.testing.assert_array_equal(loaded.complete(X, Y).confidences, fitted(name).complete(X, Y).confidences)
    assert {k: repr(v) for k, v in loaded.get_params().items()}.keys() == fitted(name).get_params().keys()
    assert os.listdir(tmp_path) == ["model.skops"]


def test_sparse_samples_and_a_pipeline(tmp_path):
    ridge = spmld.MaskedRidge().fit(sp.csr_array(X), Y)
    piped = make_pipeline(StandardScaler(), spmld.MaskedLogistic()).fit(X, Y)
    for model in (ridge, piped):
        spmld.save(model, tmp_path / "model.skops")
        np.testing.assert_array_equal(spmld.load(tmp_path / "model.skops").predict_proba(X), model.predict_proba(X))
        assert spmld.model_info(tmp_path / "model.skops").n_labels == 5


@pytest.mark.parametrize("cls", [spmld.GLOCAL, spmld.MaskedLogistic, spmld.LEML, spmld.SelfPacedClassifier])
def test_tensors_are_written_as_arrays(cls, tmp_path):
    model = cls().fit(torch.asarray(X), Y)
    before = {name: type(value) for name, value in vars(model).items()}
    spmld.save(model, tmp_path / "model.skops")
    assert {name: type(value) for name, value in vars(model).items()} == before  # the model itself does not change
    loaded = spmld.load(tmp_path / "model.skops")
    assert not any(isinstance(value, torch.Tensor) for value in vars(loaded).values())
    # torch and NumPy round products differently; near 0 the relative difference is larger.
    expected = model.decision_function(torch.asarray(X))
    np.testing.assert_allclose(loaded.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert isinstance(loaded.decision_function(torch.asarray(X)), torch.Tensor)


def test_names_version_and_summary_are_stored(tmp_path):
    frames = pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y).add_prefix("tag ")
    path = tmp_path / "model.skops"
    for model in (spmld.MaskedLogistic(C=3.0), spmld.estimators.ThresholdClassifier(spmld.MaskedLogistic())):
        spmld.save(model.fit(*frames), path, summary={"data": "sóngs", "rows": [1, 2]})
        info = spmld.model_info(path)
        assert info.label_names == [f"tag {i}" for i in range(5)]
        assert info.feature_names == [f"f{i}" for i in range(8)]
        assert (info.n_features, info.n_labels, info.version) == (8, 5, spmld.__version__)
        assert info.summary == {"data": "sóngs", "rows": [1, 2]}
        assert info.estimator == type(model).__name__
        assert set(info.params) == set(model.get_params(deep=False))
    spmld.save(fitted("MaskedLogistic"), path)
    assert (spmld.model_info(path).label_names, spmld.model_info(path).feature_names) == (None, None)
    spmld.save(fitted("MaskedLogistic"), path, label_names="abcde", feature_names=range(8))
    assert spmld.model_info(path).label_names == list("abcde")
    with pytest.raises(ValueError, match="label_names must have 5 names, one for each label of the model, got 3"):
        spmld.save(fitted("MaskedLogistic"), path, label_names="abc")
    with pytest.raises(ValueError, match="summary must contain types that JSON supports"):
        spmld.save(fitted("MaskedLogistic"), path, summary={"rows": {1, 2}})


def test_skops_can_read_the_file(saved):
    assert "spmld.json" in zipfile.ZipFile(saved[0]).namelist()
    assert zipfile.ZipFile(saved[0]).testzip() is None
    loaded = skops.io.load(saved[0], trusted=skops.io.get_untrusted_types(file=saved[0]))
    np.testing.assert_array_equal(loaded.coef_, fitted("MaskedLogistic").coef_)


@pytest.mark.parametrize("fraction", [0.001, 0.3, 0.9999])
def test_a_truncated_file_raises(fraction, saved):
    path, content = saved
    path.write_bytes(content[: max(1, int(len(content) * fraction))])
    for read in (spmld.load, spmld.model_info):
        with pytest.raises(ModelFileError, match=r"model\.skops cannot be read as a model file"):
            read(path)


def test_a_changed_byte_never_changes_the_model(saved):
    """Bytes that no reader uses, such as dates of the archive, may change."""
    path, content = saved
    expected, n_errors = fitted("MaskedLogistic").coef_, 0
    positions = np.random.default_rng(0).integers(len(content), size=60)
    for position in [0, 3, 20, *positions, *range(len(content) - 40, len(content))]:
        changed = bytearray(content)
        changed[position] ^= 0x10
        path.write_bytes(changed)
        try:
            np.testing.assert_array_equal(spmld.load(path).coef_, expected)
        except ModelFileError:
            n_errors += 1
    assert n_errors > 60


def rewrite(path, change):
    """Write the file with another description; None deletes an entry."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    description = {**json.loads(parts["spmld.json"]), **change}
    parts["spmld.json"] = json.dumps({name: value for name, value in description.items() if value is not None})
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_newer_major_version_raises_and_a_newer_minor_version_does_not(saved):
    path, _ = saved
    rewrite(path, {"version": "0.99.3"})
    assert spmld.model_info(path).version == "0.99.3"
    np.testing.assert_array_equal(spmld.load(path).coef_, fitted("MaskedLogistic").coef_)
    rewrite(path, {"version": "1.0.0"})
    for read in (spmld.load, spmld.model_info):
        with pytest.raises(
            ModelFileError, match=r"written by spmld 1\.0\.0 in file format 3\. This is spmld 0\..*Upgrade"
        ):
            read(path)


@pytest.mark.parametrize(("file_format", "advice"), [(1, "Fit and save the model again"), (4, "Upgrade spmld")])
def test_other_file_formats_raise(file_format, advice, saved):
    rewrite(saved[0], {"format": file_format})
    with pytest.raises(ModelFileError, match=f"in file format {file_format}.*{advice}"):
        spmld.load(saved[0])


@pytest.mark.parametrize("name", ["spmld.json", "schema.json"])
def test_descriptions_that_expand_to_gigabytes_are_not_read(name, saved, monkeypatch):
    monkeypatch.setattr("spmld.export.model_file.MAX_JSON", 10**6)
    path, _ = saved
    with zipfile.ZipFile(path) as archive:
        parts = {item: archive.read(item) for item in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for item, content in parts.items():
            archive.writestr(item, content + b" " * 10**6 * (item == name))
    assert path.stat().st_size < 10**5
    for read in (spmld.load, spmld.model_info):
        with pytest.raises(ModelFileError, match=f"{path.name} cannot be read.*{name} has 1 MB, of at most 1 MB"):
            read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "model.skops is empty, expected a model file of spmld"),
        (b"pitch,label_sad\n1,0\n", "cannot be read as a model file of spmld: it starts with b'pitch,la'"),
        (pickle.dumps({"a": 1}), "it is a pickle, which can execute arbitrary code"),
    ],
)
def test_other_files_raise(content, message, tmp_path):
    (tmp_path / "model.skops").write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        spmld.load(tmp_path / "model.skops")
    assert message in str(caught.value)


def test_other_archives_folders_and_missing_files_raise(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(FileNotFoundError, match="does not exist"):
        spmld.load(path)
    with pytest.raises(ModelFileError, match="is a folder"):
        spmld.load(tmp_path)
    with pytest.raises(ModelFileError, match="is a folder; pass the name of a file"):
        spmld.save(fitted("LabelPrior"), tmp_path)
    np.savez(path.open("wb"), X=X)
    with pytest.raises(ModelFileError, match="cannot be read as a model file of spmld"):
        spmld.load(path)
    skops.io.dump(StandardScaler().fit(X), path)
    with pytest.raises(ModelFileError, match=r"load files of skops with skops\.io\.load"):
        spmld.load(path)


def test_an_untrusted_type_raises_and_is_not_created_unless_it_is_passed(tmp_path, monkeypatch):
    path, name = tmp_path / "model.skops", f"{__name__}.Untrusted"
    model = spmld.PerLabelClassifier(Untrusted()).fit(X, Y)
    with pytest.warns(UserWarning, match="has untrusted types or functions: load it with"):
        spmld.save(model, path)
    created = []
    monkeypatch.setattr(Untrusted, "__new__", lambda cls: created.append(cls) or object.__new__(cls))
    with pytest.raises(ModelFileError) as caught:
        spmld.load(path)
    assert not created
    assert f"has untrusted types or functions: {name}." in str(caught.value)
    assert f"pass trusted=['{name}']" in str(caught.value)
    np.testing.assert_array_equal(spmld.load(path, trusted=[name]).predict_proba(X), model.predict_proba(X))
    for wrong in (name, [1]):
        with pytest.raises(ValueError, match="trusted must be a list of type names"):
            spmld.load(path, trusted=wrong)


def test_no_object_of_an_untrusted_file_is_created(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    with pytest.warns(UserWarning, match="has untrusted types"):
        spmld.save(spmld.PerLabelClassifier(Untrusted()).fit(X, Y), path)
    created = []
    monkeypatch.setattr(Untrusted, "__new__", lambda cls: created.append(cls) or object.__new__(cls))
    with pytest.raises(ModelFileError):
        spmld.load(path)
    assert not created


def test_sparse_arrays_of_every_part_are_checked(tmp_path):
    path = tmp_path / "model.skops"
    invalid = sp.csr_array(X)
    invalid.indices[3] = 10**6
    kernel = spmld.estimators.transformers.LandmarkFeatures(5, random_state=0).fit(sp.csr_array(X))
    kernel.kernel_.components_ = invalid
    schedule = spmld.pacing.QuantileSchedule()  # no estimator
    schedule.start = invalid
    nested = np.array([None, {"a": (1, invalid)}], dtype=object)
    model = fitted("MaskedLogistic")
    for part in (kernel, schedule, nested, Bunch(a=[invalid])):
        forged = copy.copy(model)
        forged.part_ = part
        spmld.save(forged, path)
        with pytest.raises(ModelFileError, match=r"cannot be read as a model file.*(indices|index values) must be"):
            spmld.load(path)


def test_models_that_are_not_fitted_and_missing_folders_raise(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(NotFittedError):
        spmld.save(spmld.SPMLD(), path)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        spmld.save(fitted("LabelPrior"), tmp_path / "absent" / "model.skops")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_write_keeps_the_old_file(error, saved, monkeypatch):
    path, content = saved

    def stopped(part, data):
        with part.open("wb") as file:
            file.write(data[:100])
        raise error

    monkeypatch.setattr(type(path), "write_bytes", stopped)
    with pytest.raises((KeyboardInterrupt, OSError)):
        spmld.save(fitted("LabelPrior"), path)
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == ["model.skops"]


def test_all_estimators_and_their_parts_are_trusted():
    for package in (spmld.estimators, spmld.model_selection, spmld.pacing):
        classes = [getattr(package, name) for name in package.__all__]
        names = [f"{cls.__module__}.{cls.__name__}" for cls in classes if isinstance(cls, type)]
        assert len(names) >= 3
        assert all(map(is_trusted, names))


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "sklearn.tree._tree.Tree",
        "spmld.app.commands.main",
        "spmld.app.commands.__main__.main",
        "spmld.export.model_file.load",
        "spmld.labels.encoding.read_labels",
        "spmld.estimators.spmld.GLOCAL",
        "spmld.estimators.absent.Estimator",
        "spmld.labels.encoding.Labels.write",
        "spmld.estimators_of_others.Estimator",
        "Labels",
    ],
)
def test_functions_imported_names_and_other_modules_are_not_trusted(name):
    assert not is_trusted(name)


def test_a_model_that_skops_cannot_write_is_named(tmp_path):
    model = copy.copy(fitted("MaskedLogistic"))
    model.extra_ = (value for value in ())
    with pytest.raises(ModelFileError, match=r"MaskedLogistic cannot be written to .*model\.skops"):
        spmld.save(model, tmp_path / "model.skops")


@pytest.mark.parametrize("change", [{"version": None, "format": "x"}, {"estimator": None}])
def test_a_description_of_wrong_content_is_named(change, saved):
    rewrite(saved[0], change)
    with pytest.raises(ModelFileError, match=r"model\.skops cannot be read as a model file of spmld"):
        spmld.model_info(saved[0])


def test_infinite_parameters_are_described_as_text(tmp_path):
    model = spmld.MaskedRidge().fit(X, Y)
    model.alpha = np.inf
    spmld.save(model, tmp_path / "model.skops")
    params = spmld.model_info(tmp_path / "model.skops").params
    assert params["alpha"] == "inf"
    assert params["fit_intercept"] is True
