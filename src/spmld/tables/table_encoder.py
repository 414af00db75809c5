"""TableEncoder: features from the columns of a table."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import Matrix
from spmld._frames import DataFrame, to_pandas
from spmld._io import need
from spmld._validation import PositiveInt, Validated
from spmld.tables import columns
from spmld.tables.errors import ALLOW_MISSING, TableError, TableProblem, TableWarning, absent_columns
from spmld.tables.numbers import NumberFormat, NumberTexts
from spmld.tables.text_embedder import TextEmbedder
from spmld.tables.text_terms import ANALYZERS, term_vectorizer
from spmld.tables.vectors import to_vectors

_Names = list[str] | tuple[str, ...] | str


@dataclass(kw_only=True, eq=False, repr=False)
class TableEncoder(TransformerMixin, Validated):
    """Encode the columns of a table as features.

    Each column is encoded by its kind, which is detected in `fit`:

    - numbers, also as text with separators, units or bounds, and yes/no: missing values are replaced by the median,
      with an additional feature that marks them; features have mean 0 and variance 1;
    - categories: one feature for each category; rare ones share a feature, and missing values are a category;
    - dates: the day, and sine and cosine of the day of the year, the day of the week and the time of day;
    - text: TF-IDF of words and pairs of words, and of 2 to 5 characters within words; with `embed`, also embeddings;
    - vectors, such as embeddings of images: mean 0 and mean squared norm 1; the mean where they are missing.

    Identifiers, row numbers, and empty and constant columns are ignored. A text has norm 1. If there are texts or
    vectors, all other features are divided by the square root of the number of their columns, so that they have this
    norm, too.

    Parameters
    ----------
    text, number, category, date, vectors : sequence of str, default=()
        Columns of these kinds. The kinds of the other columns are detected, except vectors: lists of numbers of one
        length, or JSON texts of them.
    drop : sequence of str, default=()
        Columns to ignore.
    embed : str, optional
        Model whose embeddings are added for each text column; see `TextEmbedder`.
    max_terms : int, default=20000
        Maximum number of words and pairs of words, and of character n-grams, of each text column: those that occur in
        most texts.
    max_categories : int, default=100
        Maximum number of categories of each column.
    day_first : bool, default=False
        Whether the day comes first in dates such as 03/04/2024 if all dates of a column can be read in both orders.
    decimal : {".", ","}, optional
        Decimal separator of text such as 1,234, which could be a thousand. By default, it is decided by the other
        values of the column.
    strict : bool, default=False
        Whether values of new data that cannot be read as the number or date of their column raise an error. By default,
        they are missing values, and a TableWarning counts them.
    allow_missing : bool, default=False
        Whether all values of a column are missing, with a TableWarning, if new data lacks the column or none of its
        values can be read. By default, this raises an error.

    Attributes
    ----------
    kinds_ : dict
        Kind of each column: "number", "category", "date", "text" or "vectors", or the reason why it is ignored:
        "identifier", "row number", "empty", "constant", "nested" or "dropped".
    number_formats_ : dict
        Format of each column of text that is read as numbers: decimal separator, unit, and whether it is yes/no.
    date_formats_ : dict
        Formats of each date column, and whether its dates have a time of day.
    vector_sizes_ : dict
        Number of features of each column of vectors.
    transformer_ : ColumnTransformer
        The encoders of scikit-learn.
    n_features_in_, feature_names_in_
        As in scikit-learn: the columns that are used.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables import TableEncoder
    >>> songs = pd.DataFrame(
    ...     {
    ...         "review": ["a slow sad song", "loud and fast", "a slow dance", "loud, loud, loud"],
    ...         "tempo": [60, 180, None, 170],
    ...         "key": ["minor", "major", "minor", "major"],
    ...     }
    ... )
    >>> encoder = TableEncoder(text=["review"]).fit(songs)
    >>> encoder.kinds_
    {'review': 'text', 'tempo': 'number', 'key': 'category'}
    >>> encoder.transform(songs).shape
    (4, 115)
    >>> encoder.get_feature_names_out()[-4:].tolist()
    ['tempo', 'tempo (missing)', 'key = major', 'key = minor']
    """

    text: _Names = ()
    number: _Names = ()
    category: _Names = ()
    date: _Names = ()
    vectors: _Names = ()
    drop: _Names = ()
    embed: str | None = None
    max_terms: PositiveInt = 20000
    max_categories: PositiveInt = 100
    day_first: bool = False
    decimal: Literal[".", ","] | None = None
    strict: bool = False
    allow_missing: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Detect the kinds of the columns, and fit their encoders.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_columns)
            Table, of pandas, polars or another library that narwhals supports.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        self
        """
        self._fit_table(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the encoders, and return the features of the same table; each text is encoded once.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_features)
            As in `transform`.
        """
        return _as_features(*self._fit_table(X))

    def _fit_table(self, X: Any) -> tuple[Any, list[TableProblem]]:
        """Fit the encoders, and return the features and the problems of values that cannot be read."""
        self._validate_params()
        frame = _check_frame(X)
        with self._new_state() as fitted:
            return fitted._fit(frame)

    def _fit(self, frame: Any) -> tuple[Any, list[TableProblem]]:
        self.kinds_ = self._find_kinds(frame)
        used = [name for name, kind in self.kinds_.items() if kind not in columns.IGNORED_KINDS]
        if not used:
            reasons = ", ".join(f"{name} ({kind})" for name, kind in self.kinds_.items())
            raise ValueError(f"X must have at least one column of features, got {reasons or 'no columns'}")
        self.feature_names_in_ = np.array(used, dtype=object)
        self.n_features_in_ = len(used)
        texts = [name for name in self._columns("number") if not columns.is_typed(frame[name])]
        self.number_formats_ = {name: NumberTexts(frame[name], self.decimal).format for name in texts}
        self.date_formats_ = {name: _date_details(frame[name], self.day_first) for name in self._columns("date")}
        self.vector_sizes_: dict[str, int] = {}
        prepared, unreadable = self._prepare(frame)
        failed = [problem for problem in unreadable if self.strict or problem.count == problem.total]
        failed += columns.find_too_large(prepared)
        if failed:
            raise TableError([replace(p, options=(("category", p.column), ("drop", p.column))) for p in failed])
        self.transformer_ = self._make_transformer(prepared)
        features = self.transformer_.fit_transform(prepared)
        for _, part, _ in (*self.transformer_.transformers, *self.transformer_.transformers_):
            if isinstance(part, TfidfVectorizer):
                part.set_params(vocabulary=None)  # model files need it only once, in vocabulary_
        return features, unreadable

    def _find_kinds(self, frame: Any) -> dict[str, str]:
        """Return the kinds of the columns: those of the parameters, and those that are detected.

        Repeated rows are left out of categories, so that the values of an identifier are distinct.
        """
        passed: dict[str, str] = {}
        problems: list[TableProblem] = []
        for option in ("text", "number", "category", "date", "vectors", "drop"):
            value = getattr(self, option)
            names = [value] if isinstance(value, str) else [str(name) for name in value]
            passed |= dict.fromkeys(names, "dropped" if option == "drop" else option)
            absent = [name for name in names if name not in frame.columns]
            problems += [absent_columns([name], frame.columns, option=option) for name in absent]
        if problems:
            raise TableError(problems)
        kind_of = columns.column_kind
        kinds = {name: passed.get(name) or kind_of(frame[name], decimal=self.decimal) for name in frame.columns}
        detected = [name for name, kind in kinds.items() if kind == "category" and name not in passed]
        if detected:
            numbered = [name for name, kind in kinds.items() if kind == "row number"]
            rows = frame[~columns.duplicated_rows(frame.drop(columns=numbered))]
            if columns.MIN_IDENTIFIERS <= len(rows) < len(frame):
                kinds |= {name: kind_of(rows[name]) for name in detected}
        return kinds

    def transform(self, X: Any) -> Matrix:
        """Return the features.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_columns)
            Table with the columns `feature_names_in_`, in any order. Other columns are ignored.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_features)
            Sparse if most features are zero in `fit`.
        """
        check_is_fitted(self)
        frame = _check_frame(X)
        used = self.feature_names_in_.tolist()
        if absent := [name for name in used if name not in frame.columns]:
            problem = absent_columns(absent, frame.columns, expected=used, source="X", allow_missing=self.allow_missing)
            if not self.allow_missing:
                raise TableError([problem])
            warnings.warn(TableWarning(problem), stacklevel=2)
            frame = frame.reindex(columns=used)
        prepared, unreadable = self._prepare(frame)
        if unreadable and self.strict:
            raise TableError(unreadable)
        failed = [problem for problem in unreadable if problem.count == problem.total]
        if failed and not self.allow_missing:
            raise TableError([replace(problem, options=ALLOW_MISSING) for problem in failed])
        for _, part, _ in self.transformer_.transformers_:
            if isinstance(part, TextEmbedder):
                part.set_params(model=self.embed)  # its folder may have been moved since the fit
        return _as_features(self.transformer_.transform(prepared), unreadable)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features: the column, and the word, the quoted characters or the category."""
        check_is_fitted(self)
        names = []
        for block, transformer, names_in in self.transformer_.transformers_:
            kind = block.partition(" ")[0]
            if kind == "words":
                names += [f"{names_in}: {word}" for word in transformer.get_feature_names_out()]
            elif kind == "characters":
                names += [f"{names_in}: {text!r}" for text in transformer.get_feature_names_out()]
            elif kind == "embedding":
                names += [f"{names_in}: embedding {i}" for i in range(len(transformer.probe_))]
            elif kind == "vectors":
                names += names_in
            elif block == "categories":
                names += _category_names(transformer, names_in)
            elif block == "numbers":
                for name in transformer.get_feature_names_out(names_in):
                    column = name.removeprefix("missingindicator_")
                    names.append(name if column == name else f"{column} (missing)")
        return np.array(names, dtype=object)

    def _columns(self, kind: str) -> list[str]:
        return [name for name in self.feature_names_in_ if self.kinds_[name] == kind]

    def _prepare(self, frame: Any) -> tuple[Any, list[TableProblem]]:
        """Return a table of numbers, categories as text, and text, without missing categories and text.

        Problems of values of columns of numbers and dates that cannot be read are returned, too.
        """
        arrays: dict[str, Any] = {}
        unreadable: list[TableProblem] = []
        for name in self.feature_names_in_:
            column = frame[name]
            kind = self.kinds_[name]
            if kind == "number":
                form = self.number_formats_.get(name, NumberFormat())
                numbers = columns.to_numbers(column, form, decimal=self.decimal)
                unreadable += columns.find_unreadable(column, numbers, kind)
                arrays[name] = numbers.to_numpy()
            elif kind == "date":
                forms, hours = self.date_formats_[name]
                dates = columns.to_dates(column, forms)
                unreadable += columns.find_unreadable(column, dates, kind)
                arrays |= columns.date_parts(dates, name, hours=hours)
            elif kind == "category":
                arrays[name] = columns.to_categories(column).to_numpy(dtype=object)
            elif kind == "vectors":
                vectors = to_vectors(column, self.vector_sizes_.get(name))
                self.vector_sizes_[name] = vectors.shape[1]
                arrays |= {f"{name}[{i}]": values for i, values in enumerate(vectors.T)}
            else:
                arrays[name] = column.astype(object).where(column.notna(), "").astype(str).to_numpy(dtype=object)
        return need("pandas").DataFrame(arrays), unreadable

    def _make_transformer(self, prepared: Any) -> ColumnTransformer:
        texts = self._columns("text")
        categories = self._columns("category")
        vectors = {name: [f"{name}[{i}]" for i in range(size)] for name, size in self.vector_sizes_.items()}
        numbers = [name for name in prepared.columns if name not in {*texts, *categories, *chain(*vectors.values())}]
        if self.embed is not None and not texts:
            raise ValueError(f"embed={self.embed!r} requires a text column; name it with text")
        blocks: list[tuple[str, Any, Any]] = []
        weights: dict[str, float] = {}
        for name in texts:
            if not prepared[name].str.contains(r"\w\w").any():
                raise ValueError(f"text column {name!r} must contain words, got {prepared[name].iloc[0]!r}; drop it")
            parts: dict[str, Any] = {
                kind: term_vectorizer(kind, prepared[name].tolist(), self.max_terms) for kind in ANALYZERS
            }
            if self.embed is not None:
                parts["embedding"] = TextEmbedder(self.embed)
            blocks += [(f"{kind} {name}", part, name) for kind, part in parts.items()]
            weights |= {f"{kind} {name}": len(parts) ** -0.5 for kind in parts}
        for name, names in vectors.items():
            blocks.append((f"vectors {name}", make_pipeline(SimpleImputer(), StandardScaler()), names))
            weights[f"vectors {name}"] = len(names) ** -0.5
        n_others = len(self.feature_names_in_) - len(texts) - len(vectors)
        others = n_others**-0.5 if weights and n_others else 1.0
        if numbers:
            impute = SimpleImputer(strategy="median", add_indicator=True)
            blocks.append(("numbers", make_pipeline(impute, StandardScaler()), numbers))
            weights["numbers"] = others
        if categories:
            encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=self.max_categories)
            blocks.append(("categories", encoder, categories))
            weights["categories"] = others
        return ColumnTransformer(blocks, transformer_weights=weights, sparse_threshold=0.5)


def _as_features(features: Any, unreadable: list[TableProblem]) -> Any:
    """Return encoded features as an array, with warnings about values that were treated as missing."""
    for problem in columns.as_missing(unreadable):
        warnings.warn(TableWarning(replace(problem, options=(("strict", "True"),))), stacklevel=3)
    return sp.csr_array(features) if sp.issparse(features) else np.asarray(features, dtype=float)


def _check_frame(X: Any) -> DataFrame:
    """Return a DataFrame of pandas with column names of type str and a new index."""
    frame = to_pandas(X).rename(columns=str).reset_index(drop=True)
    if not frame.columns.is_unique:
        repeated = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"the columns of X must have different names, got {repeated!r} more than once")
    return frame


def _date_details(column: Any, day_first: bool) -> tuple[list[str], bool]:
    is_date = getattr(column.dtype, "kind", "O") == "M"
    values = column.dropna()
    forms = ["ISO8601"] if is_date else columns.date_formats(columns.without_missing_words(values), day_first=day_first)
    dates = columns.to_dates(values, forms).dropna()
    return forms, bool((dates != dates.dt.normalize()).any())


def _category_names(encoder: OneHotEncoder, columns: Sequence[str]) -> list[str]:
    names = []
    for i, column in enumerate(columns):
        infrequent = encoder.infrequent_categories_[i]
        rare = set() if infrequent is None else set(infrequent)
        names += [f"{column} = {category}" for category in encoder.categories_[i] if category not in rare]
        names += [f"{column} = other"] if rare else []
    return names
