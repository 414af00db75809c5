"""Conversion of columns: numbers, dates, categories, and the kinds of unusual columns."""

import numpy as np
import pandas as pd
import pytest

from spmld.tables import TableEncoder
from spmld.tables.columns import (
    DATE_FORMATS,
    column_kind,
    date_formats,
    date_notes,
    date_parts,
    describe_format,
    to_categories,
    to_dates,
    to_numbers,
)


def test_days_of_the_week_are_equally_spaced_and_repeat():
    days = to_dates(pd.Series(pd.date_range("2024-01-01", periods=14).astype(str)), ["ISO8601"])
    parts = date_parts(days, "d", hours=False)
    angles = np.unwrap(np.arctan2(parts["d_weekday_sin"], parts["d_weekday_cos"]))
    np.testing.assert_allclose(np.diff(angles), 2 * np.pi / 7)
    np.testing.assert_allclose(np.diff(parts["d_day"]), 1)


def test_the_time_of_day_is_a_cycle_of_one_day():
    times = to_dates(pd.Series(["2024-01-01 06:00", "2024-01-02 06:00", "2024-01-01 18:00"]), ["ISO8601"])
    parts = date_parts(times, "d", hours=True)
    np.testing.assert_allclose(parts["d_hour_sin"], [1, 1, -1], atol=1e-9)
    np.testing.assert_allclose(parts["d_hour_cos"], 0, atol=1e-9)
    frame = pd.DataFrame({"when": ["2024-01-01 06:00", "2024-02-02 07:30", "2024-03-01 18:00"]})
    assert "when_hour_sin" in TableEncoder().fit(frame).get_feature_names_out()
    assert "when_hour_sin" not in TableEncoder().fit(frame["when"].str[:10].to_frame()).get_feature_names_out()


def test_times_with_a_zone_are_those_of_utc():
    dates = to_dates(pd.Series(["2024-01-31T23:30:00Z", "2024-02-01T01:30:00+02:00"]), ["ISO8601"])
    assert dates.tolist() == [pd.Timestamp("2024-01-31 23:30")] * 2


def test_infinite_numbers_are_missing_and_durations_are_seconds():
    np.testing.assert_array_equal(to_numbers(pd.Series([1.0, np.inf, -np.inf])), [1, np.nan, np.nan])
    np.testing.assert_array_equal(to_numbers(pd.Series(pd.to_timedelta(["1min", "2s"]))), [60, 2])
    np.testing.assert_array_equal(to_numbers(pd.Series(["1.234,5", "1,5", "1,234,5"])), [1234.5, 1.5, np.nan])


def test_categories_ignore_surrounding_spaces():
    assert to_categories(pd.Series([" red", "red ", None])).tolist() == ["red", "red", "missing"]


def test_words_of_a_single_text_are_left_out_of_large_tables():
    texts = [f"slow song number{i}" for i in range(120)]
    for n, expected in ((99, 201), (120, 3)):  # words and pairs of words
        names = TableEncoder(text="review").fit(pd.DataFrame({"review": texts[:n]})).get_feature_names_out()
        assert sum("'" not in name for name in names) == expected


def test_rare_categories_share_a_feature():
    frame = pd.DataFrame({"key": ["a"] * 9 + ["b"] * 8 + ["c", "d", "e"]})
    encoder = TableEncoder(max_categories=3).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["key = a", "key = b", "key = other"]
    X = encoder.transform(pd.DataFrame({"key": ["a", "d", "new"]}))
    np.testing.assert_array_equal(X if isinstance(X, np.ndarray) else X.toarray(), [[1, 0, 0], [0, 0, 1], [0, 0, 1]])


@pytest.mark.parametrize("space", [" ", "\u00a0", "\ufeff", "\t"])
def test_spaces_around_dates_are_ignored(space):
    days = pd.Series(["31.01.2024", "29.02.2024 10:00", "2024-03-01", "5 Jan 2024"] * 3, name="released")
    padded = space + days + space
    forms = date_formats(days)
    assert date_formats(padded) == forms
    assert to_dates(padded, forms).tolist() == to_dates(days, forms).tolist()
    assert to_dates(padded, forms).notna().all()
    assert column_kind(padded) == "date"


def test_different_formats_of_dates_have_different_names():
    swapped = [form.replace("%m/%d", "%d/%m") for form in DATE_FORMATS if "%m/%d" in form]
    names = [describe_format(form) for form in (*DATE_FORMATS, *swapped)]
    assert len(set(names)) == len(names)
    values = pd.Series(["31.01.2024 10:00", "29.02.2024 10:00:30", "1.2.24"])
    (note,) = date_notes(values, "released", date_formats(values), day_first=False)
    formats = "day.month.year time, day.month.year time with seconds, day.month.two-digit year"
    assert note.text == f"dates of column 'released' have 3 formats: {formats}"
