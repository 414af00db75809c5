"""Files as offices have them: other encodings and sheets, spellings, dates in two orders, quotes and line breaks."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from spmld.metrics import macro_f1
from tests.journeys.songs import TAGS, make_songs, spmld, succeed

FRAME, Y = make_songs(260, seed=3)
TRAIN, TEST = slice(0, 200), slice(200, None)
FAST = ["--method", "MaskedLogistic", "--no-held-out"]


def f1(text, rows=TEST):
    return macro_f1(Y[rows].to_numpy(), pd.read_csv(io.StringIO(text))[TAGS].to_numpy())


def test_tickets_of_an_office(tmp_path):
    """Files with the byte order mark of Excel, of Windows and in UTF-16, with quotes and line breaks in texts."""
    rng = np.random.default_rng(0)
    price = [f"{value:.2f}".replace(".", ",") for value in rng.gamma(2, 60, len(FRAME))]
    notes = [f'Er sagte: "{text[:9]}"\n{text[9:]}; Grüße' if i % 3 else text for i, text in enumerate(FRAME["review"])]
    table = pd.DataFrame(
        {
            "Ticket-Nr.": 100000 + 3 * np.arange(len(FRAME)),
            "Eingang am": pd.to_datetime(FRAME["released"]).dt.strftime("%d.%m.%Y"),
            "Wert in €": np.where(rng.random(len(FRAME)) < 0.05, "k.A.", price),
            "Notiz": notes,
            "Land": "DE",
        }
    )
    labels = pd.DataFrame({tag: np.where(Y[tag], "ja", "nein") for tag in TAGS}).mask(rng.random(Y.shape) < 0.2)
    both = table.join(labels)
    both[TRAIN].to_csv(tmp_path / "Tickets (neu).csv", sep=";", index=False, encoding="utf-8-sig")
    both[TEST].to_csv(tmp_path / "windows.csv", sep=";", index=False, encoding="cp1252")
    table[TEST].to_csv(tmp_path / "utf16.csv", sep=";", index=False, encoding="utf-16")
    status, _, err = spmld(tmp_path, "fit", "Tickets (neu).csv", "-o", "m.skops")
    assert status == 2
    options = [word for tag in TAGS for word in ("--label", tag)]
    assert err.endswith(f"({' '.join(options)})\n")  # the options that solve it, and no column of prices or dates
    _, err = succeed(tmp_path, "fit", "Tickets (neu).csv", *options, "-o", "m.skops", *FAST)
    for note in (
        "column 'Ticket-Nr.' looks like an identifier and is not used as a feature (--id Ticket-Nr. or --number",
        "values of the number column 'Wert in €', such as 'k.A.', are treated as missing (--category 'Wert in €')",
        "column 'Land' has the same value in all samples and is not used as a feature",
        "columns: identifier (not used): Ticket-Nr.; date (day.month.year): Eingang am; number (decimal comma): Wert",
        "held-out: not estimated, because of --no-held-out",
    ):
        assert note in err
    out, _ = succeed(tmp_path, "predict", "m.skops", "utf16.csv", "--id", "Ticket-Nr.")
    assert pd.read_csv(io.StringIO(out))["Ticket-Nr."].tolist() == table["Ticket-Nr."][TEST].tolist()
    assert f1(out) > 0.8
    status, _, err = spmld(tmp_path, "evaluate", "m.skops", "windows.csv")
    assert (status, "--encoding cp1252" in err) == (2, True)
    succeed(tmp_path, "evaluate", "m.skops", "windows.csv", "--encoding", "cp1252")


def test_tags_in_the_second_sheet(tmp_path):
    """Tags with several spellings, and dates with two digits of the year, in the second sheet of an Excel file."""
    pytest.importorskip("openpyxl")
    rng = np.random.default_rng(1)
    spell = np.vectorize(lambda tag: rng.choice([tag, tag, tag.upper()]))
    separators = rng.choice([";", "; ", " ; "], len(FRAME))
    rows = zip(separators, Y.to_numpy(), strict=True)
    lists = [sep.join(spell(np.array(TAGS)[row])) if row.any() else "" for sep, row in rows]
    released = pd.to_datetime(FRAME["released"]).dt.strftime("%d/%m/%y")
    table = FRAME.assign(released=released).rename(columns={"song_id": "Song #"}).assign(**{"Tags (all)": lists})
    with pd.ExcelWriter(tmp_path / "songs.xlsx") as book:
        pd.DataFrame({"Export": ["of the catalogue"]}).to_excel(book, sheet_name="Info", index=False)
        table[TRAIN].to_excel(book, sheet_name="Songs 2024", index=False)
    table[TEST].to_csv(tmp_path / "new.csv", index=False)
    roles = ["--text", "review", "--tags", "Tags (all)", "--id", "Song #", "--empty-is", "negative"]
    status, _, err = spmld(tmp_path, "fit", "songs.xlsx", *roles, "-o", "m.skops")
    assert (status, "the other sheets are 'Songs 2024' (--sheet 'Songs 2024')" in err) == (2, True)
    assert "column 'review' of text does not exist; the columns are Export" in err
    roles += ["--sheet", "Songs 2024"]
    _, err = succeed(tmp_path, "fit", "songs.xlsx", *roles, "-o", "m.skops", *FAST)
    assert "tags that differ only in case or width are merged: 'DANCE' is read as 'dance', " in err
    assert "date (day/month/two-digit year): released" in err
    assert "spmld complete songs.xlsx --sheet 'Songs 2024' --model m.skops" in err or "observed: 100%" in err
    out, _ = succeed(tmp_path, "predict", "m.skops", "new.csv")
    assert f1(out) > 0.9
    out, _ = succeed(tmp_path, "evaluate", "m.skops", "new.csv", "--json")
    assert [row["label"] for row in json.loads(out)["per label"]] == sorted(TAGS, key=lambda tag: -Y[tag][TEST].sum())


def test_dates_in_two_orders_and_names_that_occur_twice(tmp_path):
    rng = np.random.default_rng(2)
    days = pd.Series([f"{d:02d}/{m:02d}/2021" for d, m in rng.integers(1, 13, size=(len(FRAME), 2))])
    table = pd.DataFrame({"a": rng.normal(size=len(FRAME)), "b": FRAME["tempo"], "date": days, "label_x": Y["dance"]})
    table.columns = ["value", "value", "visit date", "label_x"]
    table.to_csv(tmp_path / "visits.csv", index=False)
    _, err = succeed(tmp_path, "fit", "visits.csv", "-o", "month.skops", *FAST)
    assert "several columns are named 'value'; the second is used as 'value.1', and so on" in err
    assert f"dates of column 'visit date', such as '{days[0]}', are read as month/day/year (--day-first)" in err
    _, err = succeed(tmp_path, "fit", "visits.csv", "--day-first", "-o", "day.skops", *FAST)
    assert "month/day/year" not in err
    assert "spmld audit visits.csv --day-first lists" in err
    swapped = table.assign(**{"visit date": pd.to_datetime(days, format="%d/%m/%Y").dt.strftime("%m/%d/%Y")})
    swapped.to_csv(tmp_path / "swapped.csv", index=False)
    out, _ = succeed(tmp_path, "predict", "day.skops", "visits.csv")
    succeed(tmp_path, "fit", "swapped.csv", "-o", "swapped.skops", *FAST)
    assert out == succeed(tmp_path, "predict", "swapped.skops", "swapped.csv")[0]


def test_a_wide_sparse_file(tmp_path):
    """20,000 features, of which each sample has about 40, in the format of svmlight."""
    rng = np.random.default_rng(4)
    n, labels = 300, 6
    words = rng.integers(1, 20_001, size=(labels, 30))
    Y = rng.random((n, labels)) < 0.25
    lines = []
    for row in Y:
        own = [rng.choice(words[j], 12) for j in np.flatnonzero(row)]
        columns = np.unique(np.concatenate([rng.integers(1, 20_001, 30), *own]))
        names = ",".join(map(str, np.flatnonzero(row)))
        lines.append(f"{names} " + " ".join(f"{column}:{rng.uniform(0.5, 1):.3f}" for column in columns))
    (tmp_path / "train.svm").write_text("\n".join([*lines[:220], "0 20000:1"]) + "\n")
    (tmp_path / "test.svm").write_text("\n".join([*lines[220:], "0 20000:1"]) + "\n")
    _, err = succeed(tmp_path, "fit", "train.svm", "-o", "m.skops", *FAST, "--param", "C=10")
    assert "features: 20000 numbers" in err
    out, _ = succeed(tmp_path, "evaluate", "m.skops", "test.svm", "--json")
    metrics = {row["name"]: row["value"] for row in json.loads(out)["metrics"]}
    assert metrics["macro_f1"] > 0.8
    np.savez(tmp_path / "features.npz", data=np.ones(3))
    status, _, err = spmld(tmp_path, "fit", "features.npz", "-o", "n.skops")
    assert (status, "has no array 'X'; it has data; write features and labels with" in err) == (2, True)
