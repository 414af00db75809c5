"""TextEmbedder: embeddings of texts by a pretrained model in a local folder."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from spmld._io import need, shorten
from spmld._validation import Validated

_PROBE = "A text whose embedding identifies the model."
_KINDS = "a folder with a model of model2vec or sentence-transformers, or an installed package that contains one"


@dataclass(eq=False, repr=False)
class TextEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Validated):
    """Embed texts with a pretrained model in a local folder; nothing is downloaded.

    Static embeddings, the means of a vector for each token, need ``pip install "spmld[text]"``; other models need
    sentence-transformers.

    Parameters
    ----------
    model : str
        Folder of a model, or name of an installed package that contains one.

    Attributes
    ----------
    folder_ : str
        Folder of the model in `fit`.
    probe_ : ndarray of shape (n_features_out,)
        Embedding of a fixed text, by which `transform` notices another model.

    Notes
    -----
    A pickle or model file contains the path of the model, not the model, which `transform` loads again. If the folder
    has been moved, ``set_params(model=...)`` sets its new path.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from model2vec import StaticModel
    >>> from tokenizers import Tokenizer, models, pre_tokenizers
    >>> from spmld.tables import TextEmbedder
    >>> tokenizer = Tokenizer(models.WordLevel({"slow": 0, "sad": 1, "[UNK]": 2}, "[UNK]"))
    >>> tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     StaticModel(np.array([[1.0, 0], [0, 1], [0, 0]]), tokenizer).save_pretrained(folder)
    ...     TextEmbedder(folder).fit_transform(["slow", "slow sad", ""]).round(2)
    array([[1.  , 0.  ],
           [0.71, 0.71],
           [0.  , 0.  ]])
    """

    model: str

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find and load the model.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,)
            Texts.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        self
        """
        self._validate_params()
        _check_texts(X)
        folder = find_model(self.model)
        self.probe_ = _embed(folder, [_PROBE])[0]
        self.folder_ = str(folder.resolve())
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the embeddings, of norm 1, and 0 for texts that are empty or missing.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,)
            Texts.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        texts = _check_texts(X)
        moved = Path(self.model).is_dir() or not Path(self.folder_).is_dir()
        folder = find_model(self.model) if moved else Path(self.folder_)
        probe = _embed(folder, [_PROBE])[0]
        if probe.shape != self.probe_.shape or not np.allclose(probe, self.probe_, atol=1e-3):
            raise ValueError(f"{folder} does not have the model of the fit; pass the folder that has it (--embed)")
        embeddings = np.zeros((len(texts), len(self.probe_)))
        present = [i for i, text in enumerate(texts) if text.strip()]
        if present:
            embeddings[present] = _embed(folder, [texts[i] for i in present])
        return embeddings

    @property
    def _n_features_out(self) -> int:
        return len(self.probe_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def find_model(model: str) -> Path:
    """Return the folder of a model, or raise a ValueError that says what is accepted."""
    folder = Path(model)
    if folder.is_dir():
        if _has_model(folder):
            return folder
        raise ValueError(
            f"the embedding model must be {_KINDS}, got {model}, a folder without config.json and tokenizer.json"
        )
    name = model.replace("-", "_")
    spec = find_spec(name) if name.isidentifier() else None
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    for path in sorted(path.parent for place in places for path in place.rglob("config.json")):
        if _has_model(path):
            return path
    got = "a package without a model" if spec else "neither a folder nor an installed package"
    raise ValueError(f"the embedding model must be {_KINDS}, got {model!r}, which is {got}; nothing is downloaded")


def _has_model(folder: Path) -> bool:
    names = ("config.json", "tokenizer.json")
    return (folder / "modules.json").is_file() or all((folder / name).is_file() for name in names)


def _embed(folder: Path, texts: list[str]) -> NDArray[np.float64]:
    """Return embeddings of norm 1, or 0."""
    embeddings = np.asarray(_load(str(folder.resolve()))(texts), dtype=float)
    return normalize(embeddings, copy=False)


@lru_cache(maxsize=2)
def _load(folder: str) -> Callable[[list[str]], Any]:
    """Return the function of a model that embeds texts. Other than those of model2vec, models have modules."""
    types = _module_types(Path(folder, "modules.json"))
    is_static = not types or any(name.endswith("StaticEmbedding") for name in types)
    library = need("model2vec", "text") if is_static else need("sentence_transformers", None)
    if own := [name for name in types if not name.startswith("sentence_transformers.")]:
        raise ValueError(f"{folder} has code of its own, {own[0]}, which is not run; use a model without it")
    try:
        if is_static:
            static = library.StaticModel.from_pretrained(folder)
            return lambda texts: static.encode(texts, use_multiprocessing=False)
        transformer = library.SentenceTransformer(folder, local_files_only=True)
        return lambda texts: transformer.encode(texts, show_progress_bar=False)
    except Exception as error:  # libraries raise many types of errors
        raise ValueError(shorten(f"{folder} cannot be read as a model of texts: {error}")) from error


def _module_types(path: Path) -> list[str]:
    """Return the names of the classes of the modules, which sentence-transformers would import."""
    if not path.is_file():
        return []
    try:
        return [str(module["type"]) for module in json.loads(path.read_text(encoding="utf-8"))]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a list of modules: {error}") from error


def _check_texts(X: Any) -> list[str]:
    """Return texts as a list, "" where missing."""
    values = np.asarray(X, dtype=object)
    if values.ndim != 1:
        raise ValueError(f"X must be a column of texts, got an array of shape {values.shape}; select one column")
    texts = ["" if value is None or value != value else value for value in values.tolist()]
    if wrong := [value for value in texts if not isinstance(value, str)]:
        raise ValueError(f"X must be texts, got {wrong[0]!r} of type {type(wrong[0]).__name__}")
    return texts
