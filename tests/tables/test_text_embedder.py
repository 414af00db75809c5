"""TextEmbedder: embeddings of a local model, which is never downloaded nor stored."""

import os
import pickle
import shutil
import socket
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import spmld
from spmld.tables import TableEncoder, TextEmbedder, text_embedder
from tests.tables.static_models import VECTORS, write_static_model

TEXTS = ["slow", "slow loud", "", None, "unknown"]
EXPECTED = np.array([[1, 0, 0], [np.sqrt(0.5), np.sqrt(0.5), 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
FRAME = pd.DataFrame({"review": ["slow song", "calm song", "loud song", "noisy song"] * 5})
Y = np.tile([[1, 0], [1, 0], [0, 1], [0, 1]], (5, 1))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    def connect(*args):
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", connect)
    write_static_model(tmp_path / "model")
    return tmp_path / "model"


def test_embeddings_are_the_mean_vectors_of_the_words_with_norm_1(folder):
    embedder = clone(TextEmbedder(str(folder))).fit(TEXTS)
    np.testing.assert_allclose(embedder.transform(TEXTS), EXPECTED)
    np.testing.assert_allclose(embedder.transform(pd.Series([*TEXTS[:4], np.nan], index=range(5, 10))), EXPECTED)
    assert embedder.get_feature_names_out().tolist() == ["textembedder0", "textembedder1", "textembedder2"]
    assert embedder.set_output(transform="pandas").transform(TEXTS).shape == (5, 3)
    for wrong, message in ((FRAME, "must be a column of texts"), ([1.5], "must be texts, got 1.5 of type float")):
        with pytest.raises(ValueError, match=message):
            embedder.transform(wrong)


def test_an_installed_package_may_contain_the_model(folder, tmp_path, monkeypatch):
    package = tmp_path / "tiny_model"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('models are read, not imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="got 'tiny-model', which is a package without a model; nothing is downloaded"):
        TextEmbedder("tiny-model").fit(TEXTS)
    shutil.copytree(folder, package / "data" / "model")
    np.testing.assert_allclose(TextEmbedder("tiny-model").fit_transform(TEXTS), EXPECTED)


@pytest.mark.parametrize("name", ["minishlab/potion-base-8M", "no_such_package", "no/such/folder"])
def test_other_names_are_not_downloaded(name, folder):
    with pytest.raises(ValueError, match=f"a folder with a model .* got '{name}', which is neither a folder nor"):
        TextEmbedder(name).fit(TEXTS)


def test_folders_without_a_model_and_missing_libraries_are_named(folder, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty, a folder without config\.json and tokenizer\.json"):
        TextEmbedder(str(tmp_path / "empty")).fit(TEXTS)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "model2vec", None)
        text_embedder._load.cache_clear()
        with pytest.raises(ImportError, match=r'pip install "spmld\[text\]"'):
            TextEmbedder(str(folder)).fit(TEXTS)
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="model cannot be read as a model of texts: "):
        TextEmbedder(str(folder)).fit(TEXTS)
    (folder / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match="pip install sentence_transformers"):
        TextEmbedder(str(folder)).fit(TEXTS)


def test_code_in_the_folder_is_not_run(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", object())
    (folder / "own.py").write_text("raise SystemExit('run')")
    (folder / "modules.json").write_text('[{"type": "own.Module"}]')
    with pytest.raises(ValueError, match=r"model has code of its own, own\.Module, which is not run"):
        TextEmbedder(str(folder)).fit(TEXTS)
    (folder / "modules.json").write_text("{")
    with pytest.raises(ValueError, match=r"modules\.json cannot be read as a list of modules"):
        TextEmbedder(str(folder)).fit(TEXTS)


def test_models_store_the_path_and_notice_other_models(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make_pipeline(TableEncoder(text="review", embed="model"), spmld.MaskedLogistic()).fit(FRAME, Y)
    spmld.save(model, tmp_path / "m.skops")
    assert os.path.getsize(tmp_path / "m.skops") < 100_000
    expected = model.predict_proba(FRAME)
    os.chdir("/")  # a relative path is that of the fit
    for loaded in (spmld.load(tmp_path / "m.skops"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(loaded.predict_proba(FRAME), expected)
    folder.rename(tmp_path / "moved")
    with pytest.raises(ValueError, match="got 'model', which is neither a folder nor an installed package"):
        loaded.predict_proba(FRAME)
    loaded[0].set_params(embed=str(tmp_path / "moved"))
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), expected)
    for vectors in (VECTORS | {"text": (0, 1, 1)}, {word: vector[:2] for word, vector in VECTORS.items()}):
        write_static_model(folder, vectors)
        text_embedder._load.cache_clear()
        loaded[0].set_params(embed=str(folder))
        with pytest.raises(ValueError, match="does not have the model of the fit"):
            loaded.predict_proba(FRAME)


def test_onnx_names_the_option_that_it_lacks(folder, tmp_path):
    model = make_pipeline(TableEncoder(text="review", embed=str(folder)), spmld.MaskedLogistic()).fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"embeddings, whose model .*fit without embed \(--embed\)"):
        spmld.export_onnx(model, tmp_path / "m.onnx")


def test_synonyms_share_embeddings_and_a_text_has_norm_1(folder):
    encoder = TableEncoder(text="review", embed=str(folder)).fit(FRAME)
    X = encoder.transform(FRAME)
    X = X.toarray() if hasattr(X, "toarray") else X
    np.testing.assert_allclose((X**2).sum(axis=1), 1)
    names = encoder.get_feature_names_out()
    embedding = [name.startswith("review: embedding ") for name in names]
    np.testing.assert_allclose(X[:2, embedding] ** 2, [[1 / 3, 0, 0]] * 2)
    with pytest.raises(ValueError, match="requires a text column; name it with text"):
        TableEncoder(embed=str(folder)).fit(pd.DataFrame({"a": [1.5, 2.5, 2.5]}))
