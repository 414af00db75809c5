"""Numbers in text: separators, units and bounds, decided from the whole column, and read in new data as in the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.datasets import from_frame
from spmld.tables import TableEncoder, TableError, TableWarning
from spmld.tables.columns import column_kind, to_numbers
from spmld.tables.numbers import NumberFormat, NumberTexts, parse_number

LABELS = {"label_a": [0, 1] * 20}
RNG = np.random.default_rng(0)
VALUES = np.round(RNG.uniform(1, 5000, 40), 2)


def notes_of(frame, **roles):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        data = from_frame(frame, **roles)
    return data, [str(note.message) for note in notes]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.424,0", 1424),
        ("1,052.00", 1052),
        ("1 234,5", 1234.5),
        ("1\u202f234\u00a0567", 1234567),
        ("1'234.50", 1234.5),
        ("1.234.567", 1234567),
        ("0,123", 0.123),
        ("1234,567", 1234.567),
        (".5", 0.5),
        ("5.", 5),
        ("\uff11\uff12", 12),  # full-width digits
        ("\u22124", -4),
        ("-$5.50", -5.5),
        ("1e3", 1000),
        (7, 7),
    ],
)
def test_numbers_that_can_be_read_in_one_way(text, value):
    number = parse_number(text)
    assert (number.point, number.comma) == (value, value)


@pytest.mark.parametrize("text", ["1.2.3", "31.01.2024", "2024-01-31", "12:30", "1/2", "(5)", "1,23,456", "1_000", "x"])
def test_other_texts_are_not_numbers(text):
    assert parse_number(text) is None


def test_long_text_beside_a_number_is_not_a_unit():
    assert parse_number("5 " + "x" * 30).unit == "x" * 30
    assert parse_number("5 " + "x" * 31) is None


@pytest.mark.parametrize(
    ("values", "numbers", "is_clear"),
    [
        (["1,5", "1,234"], [1.5, 1.234], True),
        (["0.5", "1,234"], [0.5, 1234], True),
        (["1,234,567", "1,234"], [1234567, 1234], True),
        (["800", "900", "1,000"], [800, 900, 1000], False),
        (["2", "3", "1.125"], [2, 3, 1.125], False),
        (["700", "950", "1.100"], [700, 950, 1100], False),
        (["1,234", "2,345"], [1234, 2345], False),
        (["1,5", "2,5", "0.5", "1.234"], [1.5, 2.5, 0.5, 1234], False),  # both decimal separators
    ],
)
def test_the_whole_column_decides_about_the_decimal_separator(values, numbers, is_clear):
    texts = NumberTexts(pd.Series(values))
    np.testing.assert_allclose(texts.values(texts.format), numbers)
    assert texts.is_clear == is_clear


def test_a_decimal_separator_that_is_passed_decides():
    column = pd.Series(["1,234", "2,345"])
    np.testing.assert_allclose(to_numbers(column, decimal=","), [1.234, 2.345])
    frame = pd.DataFrame({"x": ["1,234", "2,345"] * 20, "y": VALUES, **LABELS})
    data, notes = notes_of(frame, decimal=",", keep="x")  # the labels alternate, too
    assert data.encoder.transformer_.named_transformers_["numbers"][0].statistics_[0] == pytest.approx(1.7895)
    assert notes == []


def test_a_few_words_do_not_make_numbers_a_category():
    prices = [f"{value}" for value in VALUES]
    for words in (["unknown"] * 15, ["sold out"] * 15, ["-"] * 19):
        column = pd.Series([*prices[len(words) :], *words], name="price")
        assert column_kind(column) == "number"
    assert column_kind(pd.Series(["1", "2", "3", "many"] * 10)) == "category"
    assert column_kind(pd.Series([*prices[:20], *[f"word {i}" for i in range(20)]])) != "number"


def test_yes_and_no_are_numbers_only_if_all_values_are_words():
    np.testing.assert_array_equal(to_numbers(pd.Series(["yes", "no", None, "x"])), [1, 0, np.nan, 1])
    np.testing.assert_array_equal(to_numbers(pd.Series(["12", "no", "15"])), [12, np.nan, 15])


def test_numbers_with_units_have_the_features_of_the_numbers():
    units = {"percent": "{}%", "euro": "{} €", "dollar": "$ {}", "speed": "{}km/h", "code": "EUR {}"}
    clean = TableEncoder().fit_transform(pd.DataFrame({"x": VALUES}))
    for form in units.values():
        frame = pd.DataFrame({"x": [form.format(value) for value in VALUES]})
        np.testing.assert_allclose(TableEncoder().fit_transform(frame), clean)


def test_new_data_is_read_as_in_the_fit():
    encoder = TableEncoder().fit(pd.DataFrame({"x": ["1,5 kg", "2,5 kg", "1.200 kg", "3 kg"]}))
    assert encoder.number_formats_ == {"x": NumberFormat(",", "kg")}
    as_text, as_number = ({"x": ["1,234 kg", "7"]}, {"x": [1.234, 7.0]})
    np.testing.assert_allclose(*(encoder.transform(pd.DataFrame(values)) for values in (as_text, as_number)))
    with pytest.warns(TableWarning, match=r"2 of 3 values of column 'x' cannot be read as numbers, such as '500 g'"):
        X = encoder.transform(pd.DataFrame({"x": ["500 g", "5 kg", "about 3"]}))
    np.testing.assert_allclose(X[0], X[2])
    # The separators of the new data itself take precedence over those of the fit.
    english, numbers = {"x": ["1,200.50", "1,234"]}, {"x": [1200.5, 1234.0]}
    np.testing.assert_allclose(*(encoder.transform(pd.DataFrame(values)) for values in (english, numbers)))


def test_unreadable_values_are_counted_or_an_error(tmp_path):
    dates = pd.date_range("2024-01-01", periods=40)
    frame = pd.DataFrame({"x": VALUES, "day": dates.strftime("%Y-%m-%d")})
    new = pd.DataFrame({"x": [*map(str, VALUES[:38]), "high", "n/a"], "day": dates.strftime("%d/%m/%Y")})
    encoder = TableEncoder(allow_missing=True).fit(frame)
    with pytest.warns(TableWarning) as notes:
        encoder.transform(new)
    assert [str(note.message) for note in notes] == [
        "1 of 39 values of column 'x' cannot be read as numbers, such as 'high'; they are treated as missing "
        "(strict=True)",
        "40 of 40 values of column 'day' cannot be read as dates, such as '01/01/2024'; they are treated as missing "
        "(strict=True)",
    ]
    spmld.save(encoder, tmp_path / "encoder.skops")
    for strict in (
        TableEncoder(strict=True).fit(frame),
        spmld.load(tmp_path / "encoder.skops").set_params(strict=True),
    ):
        with pytest.raises(
            TableError, match=r"has 2 problems: 1 of 39 values of column 'x' cannot .* 'high'; 40 of 40"
        ):
            strict.transform(new)
        strict.transform(new[:38].assign(day=frame["day"]))
    with pytest.raises(TableError, match=r"1 of 2 values of column 'x' .* such as 'b' \(category='x' or drop='x'\)"):
        TableEncoder(strict=True, number="x").fit(pd.DataFrame({"x": ["1", "b"]}))


def test_kinds_can_be_passed():
    frame = pd.DataFrame(
        {"a": ["1 kg", "2 g", "x y z"] * 9, "b": [1, 2, 3] * 9, "c": [20240131, 20240201, 20240307] * 9}
    )
    encoder = TableEncoder(number="a", category=["b"], date="c", drop=[]).fit(frame)
    assert encoder.kinds_ == {"a": "number", "b": "category", "c": "date"}
    assert encoder.date_formats_["c"] == (["ISO8601"], False)
    assert encoder.get_feature_names_out()[-3:].tolist() == ["b = 1", "b = 2", "b = 3"]
    floats = frame.assign(b=frame["b"].astype(float))  # a missing value elsewhere in the file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        np.testing.assert_array_equal(encoder.transform(floats), encoder.transform(frame))
    with pytest.raises(TableError, match="27 of 27 values of column 'b' cannot be read as dates, such as '1'"):
        TableEncoder(date="b").fit(frame)
    with pytest.raises(ValueError, match="column 'z' of category does not exist; the columns are a, b, c"):
        TableEncoder(category="z").fit(frame)


def test_numbers_that_are_too_large_are_noted():
    frame = pd.DataFrame({"x": [*VALUES[:-1], np.inf], **LABELS})
    data, notes = notes_of(frame)
    assert notes == [
        "1 of 40 values of column 'x' cannot be read as numbers, such as 'inf'; they are treated as missing "
        "(category='x')"
    ]
    assert data.feature_names == ["x", "x (missing)"]


def test_an_identifier_is_found_although_rows_are_repeated():
    codes = [f"K{i:04d}" for i in RNG.permutation(40)]
    frame = pd.DataFrame({"code": codes, "x": VALUES, **LABELS})
    for table in (frame, pd.concat([frame, frame[:9]]), frame.assign(code=[codes[1], *codes[1:]])):
        data, notes = notes_of(table)
        assert data.columns == {"code": "identifier (not used)", "x": "number"}
        assert (
            "column 'code' looks like an identifier and is not used as a feature (id='code' or category='code')"
            in notes
        )


def test_duplicate_rows_are_counted_without_identifiers():
    frame = pd.DataFrame({"nr": range(1, 41), "x": VALUES, "tags": [["sad", "calm"], ["sad"]] * 20})
    for table, expected in (
        (pd.concat([frame, frame[:3]]).assign(nr=range(43)), "3 of 43 rows are duplicates of another row"),
        (pd.concat([frame, frame[:1]]).assign(nr=range(41)), "1 of 41 rows is a duplicate of another row"),
        (frame, None),
    ):
        for roles in ({"id": "nr"}, {}):
            _, notes = notes_of(table, tags="tags", **roles)
            duplicates = [note for note in notes if "duplicate" in note]
            assert [note.split(";")[0] for note in duplicates] == ([] if expected is None else [expected])
