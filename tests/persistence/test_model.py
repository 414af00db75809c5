"""Model files: what comes back is what was saved, and what is damaged, foreign or not trusted is refused."""

import importlib
import io
import json
import os
import pickle
import zipfile
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spmld
import spmld.estimators
import spmld.model_selection
import spmld.pacing
from spmld.persistence import ModelFileError
from spmld.persistence.checksum import seal
from spmld.persistence.trusted import TRUSTED
from tests.persistence.cases import MODELS, X, Y, answers, fitted


class Stranger(ClassifierMixin, BaseEstimator):
    """A classifier that nobody trusts."""

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


@pytest.mark.parametrize("name", MODELS)
def test_what_comes_back_answers_the_same(name, tmp_path):
    path = tmp_path / "model.skops"
    spmld.save(fitted(name), path)
    loaded = spmld.load(path)
    assert type(loaded) is type(fitted(name))
    ours, theirs = answers(fitted(name)), answers(loaded)
    assert list(ours) == list(theirs)
    for method, values in ours.items():
        np.testing.assert_array_equal(theirs[method], values)
    if hasattr(loaded, "complete"):
        np.testing.assert_array_equal(loaded.complete(X, Y).confidences, fitted(name).complete(X, Y).confidences)
    assert {k: repr(v) for k, v in loaded.get_params().items()}.keys() == fitted(name).get_params().keys()
    assert os.listdir(tmp_path) == ["model.skops"]


def test_a_loaded_model_can_be_fitted_again(saved):
    loaded = spmld.load(saved[0])
    np.testing.assert_array_equal(loaded.fit(X, Y).coef_, fitted("MaskedLogistic").coef_)


def test_sparse_samples_and_a_pipeline(tmp_path):
    neighbours = spmld.MLkNN().fit(sp.csr_array(X), Y)
    piped = make_pipeline(StandardScaler(), spmld.MaskedLogistic()).fit(X, Y)
    for each in (neighbours, piped):
        spmld.save(each, tmp_path / "model.skops")
        np.testing.assert_array_equal(spmld.load(tmp_path / "model.skops").predict_proba(X), each.predict_proba(X))
        assert spmld.model_info(tmp_path / "model.skops").n_labels == 5


@pytest.mark.parametrize("cls", [spmld.GLOCAL, spmld.MaskedLogistic, spmld.LEML, spmld.SelfPacedClassifier])
def test_tensors_are_written_as_arrays(cls, tmp_path):
    each = cls().fit(torch.asarray(X), Y)
    before = {name: type(value) for name, value in vars(each).items()}
    spmld.save(each, tmp_path / "model.skops")
    assert {name: type(value) for name, value in vars(each).items()} == before  # the model itself is left alone
    loaded = spmld.load(tmp_path / "model.skops")
    assert not any(isinstance(value, torch.Tensor) for value in vars(loaded).values())
    np.testing.assert_allclose(loaded.decision_function(X), each.decision_function(torch.asarray(X)), rtol=1e-12)
    assert isinstance(loaded.decision_function(torch.asarray(X)), torch.Tensor)


def test_names_version_and_summary_are_carried(tmp_path):
    frames = pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y).add_prefix("tag ")
    path = tmp_path / "model.skops"
    for each in (spmld.MaskedLogistic(C=3.0), spmld.model_selection.ThresholdClassifier(spmld.MaskedLogistic())):
        spmld.save(each.fit(*frames), path, summary={"data": "sóngs", "rows": [1, 2]})
        info = spmld.model_info(path)
        assert info.label_names == [f"tag {i}" for i in range(5)]
        assert info.feature_names == [f"f{i}" for i in range(8)]
        assert (info.n_features, info.n_labels, info.version) == (8, 5, spmld.__version__)
        assert info.summary == {"data": "sóngs", "rows": [1, 2]}
        assert info.estimator == type(each).__name__
        assert set(info.params) == set(each.get_params(deep=False))
    spmld.save(fitted("MaskedLogistic"), path)
    assert (spmld.model_info(path).label_names, spmld.model_info(path).feature_names) == (None, None)
    spmld.save(fitted("MaskedLogistic"), path, label_names="abcde", feature_names=range(8))
    assert spmld.model_info(path).label_names == list("abcde")
    with pytest.raises(ValueError, match="label_names must name the 5 labels of the model, got 3"):
        spmld.save(fitted("MaskedLogistic"), path, label_names="abc")
    with pytest.raises(ValueError, match="summary must hold what JSON can hold"):
        spmld.save(fitted("MaskedLogistic"), path, summary={"rows": {1, 2}})


def test_the_file_is_one_that_skops_reads(saved):
    assert "spmld.json" in zipfile.ZipFile(saved[0]).namelist()
    assert zipfile.ZipFile(saved[0]).testzip() is None
    loaded = skops.io.load(saved[0], trusted=list(TRUSTED))
    np.testing.assert_array_equal(loaded.coef_, fitted("MaskedLogistic").coef_)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.3, 0.9, 0.99, 0.9999])
def test_a_file_cut_short_is_refused(share, saved):
    path, content = saved
    path.write_bytes(content[: max(1, int(len(content) * share))])
    for read in (spmld.load, spmld.model_info):
        with pytest.raises(ModelFileError, match=r"model\.skops is (cut short|damaged|not a model file)"):
            read(path)


def test_every_changed_byte_is_seen(saved):
    path, content = saved
    places = [
        0,
        3,
        20,
        *np.random.default_rng(0).integers(len(content), size=60),
        *range(len(content) - 100, len(content)),
    ]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 0x10
        path.write_bytes(changed)
        with pytest.raises(ModelFileError, match=r"model\.skops is (damaged|not a model file|cut short)"):
            spmld.load(path)


def test_more_behind_the_end_is_seen(saved):
    path, content = saved
    path.write_bytes(content + b"\n")
    with pytest.raises(ModelFileError, match="is damaged"):
        spmld.load(path)


def rewrite(path, change):
    """The file with another description, sealed as it should be."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts.pop("spmld.json")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    info = spmld.model_info(path)
    for name, value in change.items():
        object.__setattr__(info, name, value)
    path.write_bytes(seal(buffer.getvalue(), json.dumps(asdict(info))))


def test_a_newer_major_version_is_refused_and_a_newer_minor_one_is_not(saved):
    path, _ = saved
    rewrite(path, {"version": "0.99.3"})
    assert spmld.model_info(path).version == "0.99.3"
    np.testing.assert_array_equal(spmld.load(path).coef_, fitted("MaskedLogistic").coef_)
    rewrite(path, {"version": "1.0.0"})
    for read in (spmld.load, spmld.model_info):
        with pytest.raises(ModelFileError, match=r"written by spmld 1\.0\.0, in form 1: this is spmld 0\..*Upgrade"):
            read(path)


def test_a_newer_form_is_refused(saved):
    rewrite(saved[0], {"format": 2})
    with pytest.raises(ModelFileError, match="in form 2"):
        spmld.load(saved[0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "model.skops is empty, expected a model file of spmld"),
        (b"pitch,label_sad\n1,0\n", "is not a model file of spmld: it begins with b'pitch,la'"),
        (pickle.dumps({"a": 1}), "is a pickle, which can run any code"),
    ],
)
def test_what_is_no_model_file_is_refused(content, message, tmp_path):
    (tmp_path / "model.skops").write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        spmld.load(tmp_path / "model.skops")
    assert message in str(caught.value)


def test_other_archives_folders_and_absent_files_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(FileNotFoundError, match="there is no file"):
        spmld.load(path)
    with pytest.raises(ModelFileError, match="is a folder"):
        spmld.load(tmp_path)
    with pytest.raises(ModelFileError, match="is a folder"):
        spmld.save(fitted("LabelPrior"), tmp_path)
    np.savez(path.open("wb"), X=X)
    with pytest.raises(ModelFileError, match=r"a zip archive of something else \(X\.npy\)"):
        spmld.load(path)
    skops.io.dump(StandardScaler().fit(X), path)
    with pytest.raises(ModelFileError, match=r"written by skops and not by spmld\.save"):
        spmld.load(path)


def test_a_type_that_is_not_trusted_is_refused_until_it_is_named(tmp_path):
    path, name = tmp_path / "model.skops", f"{__name__}.Stranger"
    each = spmld.PerLabelClassifier(Stranger()).fit(X, Y)
    with pytest.warns(UserWarning, match="these types are not of spmld"):
        spmld.save(each, path)
    with pytest.raises(ModelFileError) as caught:
        spmld.load(path)
    assert f"holds types that are not trusted: {name}." in str(caught.value)
    assert f"give trusted=['{name}']" in str(caught.value)
    np.testing.assert_array_equal(spmld.load(path, trusted=[name]).predict_proba(X), each.predict_proba(X))
    with pytest.raises(ValueError, match="trusted must be a list of names"):
        spmld.load(path, trusted=name)


def test_trees_are_trusted_when_named(tmp_path):
    each = spmld.SelfPacedClassifier(RandomForestClassifier(3, random_state=0), max_iter=6).fit(X, Y)
    with pytest.warns(UserWarning, match=r"sklearn\.tree\._tree\.Tree"):
        spmld.save(each, tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match=r"sklearn\.tree\._tree\.Tree"):
        spmld.load(tmp_path / "model.skops")
    loaded = spmld.load(tmp_path / "model.skops", trusted=["sklearn.tree._tree.Tree"])
    np.testing.assert_array_equal(loaded.predict_proba(X), each.predict_proba(X))


def test_nothing_of_a_refused_file_is_made(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    with pytest.warns(UserWarning, match="not of spmld"):
        spmld.save(spmld.PerLabelClassifier(Stranger()).fit(X, Y), path)
    made = []
    monkeypatch.setattr(Stranger, "__new__", lambda cls: made.append(cls) or object.__new__(cls))
    with pytest.raises(ModelFileError):
        spmld.load(path)
    assert not made


def test_sparse_indices_that_point_outside_are_refused(tmp_path, monkeypatch):
    each = spmld.MLkNN().fit(sp.csr_array(X), Y)
    each._search._fit_X.indices[3] = 10**6
    spmld.save(each, tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="cannot be read as a model file"):
        spmld.load(tmp_path / "model.skops")


def test_what_is_not_fitted_or_cannot_be_written_is_refused(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(NotFittedError):
        spmld.save(spmld.SPMLD(), path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        spmld.save(fitted("LabelPrior"), tmp_path / "absent" / "model.skops")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_write_that_is_stopped_leaves_the_old_file(error, saved, monkeypatch):
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


def test_the_trusted_list_is_of_classes_and_knows_all_of_ours():
    for name in TRUSTED:
        module, _, cls = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), cls), type), name
    for package in (spmld.estimators, spmld.model_selection, spmld.pacing, spmld.model_selection):
        for name in package.__all__:
            cls = getattr(package, name)
            made = (
                isinstance(cls, type)
                and issubclass(cls, BaseEstimator)
                and not getattr(cls, "__abstractmethods__", None)
            )
            if made:
                assert f"{cls.__module__}.{name}" in TRUSTED


def test_the_description_is_json_that_people_can_read(saved):
    with zipfile.ZipFile(saved[0]) as archive:
        found = json.loads(archive.read("spmld.json"))
    assert found["estimator"] == "MaskedLogistic"
    assert found["params"]["C"] == 1.0
    assert set(found["libraries"]) == {"python", "numpy", "scipy", "scikit-learn", "skops"}
