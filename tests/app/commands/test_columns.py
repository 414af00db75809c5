"""Columns of tables on the command line: kinds that are printed and passed, label words, and unreadable values."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from spmld.metrics import macro_auc
from spmld.tables.reading import BLOCK_ROWS
from tests.app.commands.songs import run

RNG = np.random.default_rng(0)
N = 160
TEMPO = np.round(RNG.uniform(500, 2500, N), 2)
DAYS = pd.Series(pd.to_datetime("2022-01-01") + pd.to_timedelta(RNG.integers(0, 700, N), unit="D"))
FAST, NEW = (TEMPO + RNG.normal(0, 100, N) > 1500).astype(int), (DAYS > "2022-12-01").astype(int)
FIT = ["--method", "MaskedLogistic", "-o", "model.skops", "--force"]


def german(values):
    return [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in values]


def table(**columns):
    frame = pd.DataFrame(
        {"code": [f"K{i:04d}" for i in range(N)], "tempo": german(TEMPO), "mood": ["low", "high"] * 80}
    )
    return frame.assign(**{"released": DAYS.dt.strftime("%Y-%m-%d"), "label_fast": FAST, "label_new": NEW, **columns})


@pytest.fixture
def cli(tmp_path):
    def call(*arguments):
        status, out, err = run(tmp_path, *arguments)
        assert "Traceback" not in err
        return status, out, err

    call.folder = tmp_path
    return call


def test_fit_and_info_name_the_kind_of_every_column(cli):
    table()[:120].to_csv(cli.folder / "songs.csv", index=False)
    _, _, err = cli("fit", "songs.csv", *FIT)
    assert (
        "\ncolumns: identifier (not used): code; number (decimal comma): tempo; category: mood; "
        "date (ISO 8601): released\n" in err
    )
    assert "note: column 'tempo' has thousands separators: " in err
    _, out, _ = cli("info", "model.skops", "--json")
    kinds = {"code": "identifier (not used)", "tempo": "number (decimal comma)", "mood": "category"}
    assert json.loads(out)["summary"]["columns"] == {**kinds, "released": "date (ISO 8601)"}
    _, out, _ = cli("info", "model.skops")
    assert "number (decimal comma): tempo; category: mood" in out
    _, out, err = cli("data", "describe", "songs.csv", "--json")
    assert json.loads(out)["columns"]["tempo"] == "number (decimal comma)"
    # The label that depends on the number is predicted: its numbers were categories before.
    table(label_fast="", label_new="")[120:].to_csv(cli.folder / "new.csv", index=False)
    cli("predict", "model.skops", "new.csv", "-o", "predicted.csv", "--probabilities")
    P = pd.read_csv(cli.folder / "predicted.csv")[["fast"]].to_numpy()
    assert macro_auc(FAST[120:, None], P) > 0.95


def test_options_decide_about_the_kinds(cli):
    table(grade=RNG.integers(1, 4, N)).to_csv(cli.folder / "songs.csv", index=False)
    options = ["--number", "mood", "--category", "grade", "--date", "released", "--drop", "code"]
    status, _, err = cli("fit", "songs.csv", *options, *FIT)
    assert status == 2
    assert "160 of 160 values of column 'mood' cannot be read as numbers, such as 'low' (--category mood or" in err
    status, _, err = cli("fit", "songs.csv", *options[2:], *FIT)
    assert "\ncolumns: number (decimal comma): tempo; category: mood, grade; date (ISO 8601): released\n" in err
    status, _, err = cli("fit", "songs.csv", "--category", "grad", "--date", "tempo", "--number", "tempo", *FIT)
    assert (status, "column 'grad' of category does not exist; did you mean 'grade'?" in err) == (2, True)
    assert "column 'tempo' has two roles, number and date; pass one" in err


def test_unreadable_values_of_new_data_are_counted_or_an_error(cli):
    table(tempo=TEMPO).to_csv(cli.folder / "songs.csv", index=False)
    cli("fit", "songs.csv", *FIT)
    new = table(tempo=[*map(str, TEMPO[:-3]), "fast", "slow", "n/a"], released=DAYS.dt.strftime("%d.%m.%Y"))
    new.to_csv(cli.folder / "new.csv", index=False)
    status, _, err = cli("predict", "model.skops", "new.csv", "-o", "out.csv", "--allow-missing")
    assert status == 0
    assert (
        "note: 2 of 159 values of column 'tempo' cannot be read as numbers, such as 'fast'; they are treated as "
        "missing (--strict)\n" in err
    )
    assert "note: 160 of 160 values of column 'released' cannot be read as dates, such as '30.11.2022'" in err
    status, _, err = cli("predict", "model.skops", "new.csv", "-o", "refused.csv")
    assert (status, (cli.folder / "refused.csv").exists()) == (2, False)
    assert err == (
        "spmld: new.csv: 160 of 160 values of column 'released' cannot be read as dates, such as '30.11.2022' "
        "(--allow-missing)\n"
    )
    for command in (["predict", "model.skops", "new.csv", "-o", "strict.csv"], ["evaluate", "model.skops", "new.csv"]):
        status, out, err = cli(*command, "--strict")
        assert (status, out) == (2, "")
        assert err.startswith("spmld: new.csv has 2 problems:\n  - 2 of 159 values of column 'tempo' cannot be read as")
    assert not (cli.folder / "strict.csv").exists()


def test_a_model_of_unchanged_numbers_reads_text_or_refuses_it(cli):
    frame = pd.DataFrame({"tempo": TEMPO, "label_fast": FAST, "label_new": NEW})
    frame.to_csv(cli.folder / "songs.csv", index=False)
    cli("fit", "songs.csv", *FIT)
    expected = cli("predict", "model.skops", "songs.csv")[1].splitlines()[:5]
    whole = frame.assign(tempo=np.round(TEMPO / 1000) * 1000)
    thousands = cli("predict", "model.skops", (whole.to_csv(cli.folder / "w.csv"), "w.csv")[1])[1].splitlines()[:5]
    for tempo, options, lines in (
        (german(TEMPO), [], expected),
        ([f"{value:,.2f}" for value in TEMPO], [], expected),
        ([f"{value:,.0f}" for value in whole["tempo"]], ["--decimal", "."], thousands),
    ):
        frame.assign(tempo=tempo).to_csv(cli.folder / "new.csv", index=False)
        assert cli("predict", "model.skops", "new.csv", *options)[1].splitlines()[:5] == lines
    status, out, err = cli("predict", "model.skops", "new.csv")
    assert (status, out) == (2, "")
    assert err.startswith("spmld: new.csv: column 'tempo' contains '2,000', which is not a number, or could be two ")
    assert "(--decimal)" in err


def test_unreadable_values_are_counted_over_the_blocks_of_a_file(cli, monkeypatch, capsys):
    from spmld.app.commands import main

    table(tempo=TEMPO).to_csv(cli.folder / "songs.csv", index=False)
    cli("fit", "songs.csv", *FIT)
    new = table(tempo=["fast" if i % 10 == 0 else str(v) for i, v in enumerate(TEMPO)])
    pd.concat([new] * 126).to_csv(cli.folder / "new.csv")  # 20,160 rows, in two blocks
    monkeypatch.chdir(cli.folder)
    with pytest.raises(SystemExit):
        main(["predict", "model.skops", "new.csv", "-o", "out.csv", "--force"])
    lines = [line for line in capsys.readouterr().err.splitlines() if "tempo" in line]
    assert lines == [
        "spmld: note: 2016 values of column 'tempo' cannot be read as numbers, such as 'fast'; they are treated as "
        "missing (--strict)"
    ]


def test_label_words_of_other_languages_and_passed_words(cli):
    for positive, negative in (("ДА", "нет"), ("✓", "✗")):
        words = {name: np.where(y, positive, negative) for name, y in (("label_fast", FAST), ("label_new", NEW))}
        table(**words).to_csv(cli.folder / "songs.csv", index=False)
        _, out, err = cli("data", "describe", "songs.csv", "--json")
        assert [row["positives"] for row in json.loads(out)["per label"]] == sorted([FAST.sum(), NEW.sum()])[::-1], err
    words = np.where(FAST, "detected", "clear").astype(object)
    words[:5] = "not tested"
    table(label_fast=words).to_csv(cli.folder / "songs.csv", index=False)
    status, _, err = cli("fit", "songs.csv", *FIT)
    assert (status, "--tags" in err) == (2, False)
    assert "label column 'label_fast' contains 'not tested', " in err
    assert "(--positive 'not tested' or --negative 'not tested' or --missing 'not tested' or --drop label_fast)" in err
    options = ["--positive", "detected", "--negative", "clear", "--missing", "not tested"]
    status, out, err = cli("fit", "songs.csv", *options, *FIT, "--json")
    assert json.loads(out)["observed"] == pytest.approx(1 - 5 / (2 * N), abs=1e-6)
    assert cli("evaluate", "model.skops", "songs.csv")[0] == 0  # the words are stored with the model


def test_a_wide_table_and_long_texts(cli):
    wide = pd.DataFrame(np.round(RNG.normal(size=(12, 2_000)), 2), columns=[f"a column {i}" for i in range(2_000)])
    wide.assign(label_a=[0, 1] * 6).to_csv(cli.folder / "wide.csv", index=False)
    _, out, err = cli("data", "describe", "wide.csv", "--json")
    assert json.loads(out)["features"] == 2_000, err
    texts = ["slow and sad " * 3_000, "loud", "loud and fast"] * 4
    pd.DataFrame({"review": texts, "label_a": [0, 1, 1] * 4}).to_csv(cli.folder / "long.csv", index=False)
    _, out, err = cli("data", "describe", "long.csv", "--text", "review", "--json")
    assert json.loads(out)["samples"] == 12, err


def test_suggested_options_name_all_labels(cli):
    names = [f"a mood with a rather long name, such as this one, number {i}" for i in range(40)]
    moods = pd.DataFrame(RNG.integers(0, 2, (N, 40)), columns=names)
    pd.concat([pd.DataFrame({"tempo": TEMPO}), moods], axis=1).to_csv(cli.folder / "songs.csv", index=False)
    status, _, err = cli("data", "describe", "songs.csv")
    options = shlex.split(re.search(r"\((--.*)\)", err)[1])
    assert (status, options[::2], options[1::2]) == (2, ["--label"] * 40, names)
    _, out, _ = cli("data", "describe", "songs.csv", *options, "--json")
    assert (json.loads(out)["labels"], json.loads(out)["columns"]) == (40, {"tempo": "number"})


def test_at_most_twenty_problems_are_listed(cli):
    wrong = pd.DataFrame({f"label_{i}": ["perhaps", "sometimes"] * 80 for i in range(25)})
    wrong.assign(tempo=TEMPO).to_csv(cli.folder / "songs.csv", index=False)
    _, _, err = cli("data", "describe", "songs.csv")
    lines = err.splitlines()
    assert (lines[0], len(lines), lines[-1]) == ("spmld: songs.csv has 25 problems:", 22, "  - 5 more problems")


def test_absent_columns_are_errors_with_similar_names_or_missing(cli):
    train = table(Rating=RNG.normal(size=N))
    train.to_csv(cli.folder / "songs.csv", index=False)
    cli("fit", "songs.csv", *FIT)
    train.rename(columns={"Rating": "rating"}).to_csv(cli.folder / "new.csv", index=False)
    lacks = "the file lacks 1 of the 4 features, Rating"
    train.assign(Rating=np.nan).to_csv(cli.folder / "gaps.csv", index=False)
    for command in ("predict", "evaluate"):
        status, out, err = cli(command, "model.skops", "new.csv")
        assert (status, out) == (2, "")
        assert err == f"spmld: new.csv: {lacks}; did you mean 'rating'? (--allow-missing)\n"
        status, out, err = cli(command, "model.skops", "new.csv", "--allow-missing")
        assert (status, err) == (0, f"spmld: note: {lacks}; all values are treated as missing\n")
        assert cli(command, "model.skops", "gaps.csv")[1] == out
    for command in ("monitor", "update", "complete", "report", "review"):
        assert "--allow-missing" in cli(command, "--help")[1]
    train.rename(columns={"Rating": " Rating "}).to_csv(cli.folder / "new.csv", index=False)
    assert cli("predict", "model.skops", "new.csv")[0] == 0  # spaces around names of columns are ignored
    assert "--allow-missing requires a model and a table" in cli("complete", "songs.csv", "--allow-missing")[2]


def test_a_model_of_unchanged_numbers_has_no_values_for_absent_columns(cli):
    frame = pd.DataFrame({"tempo": TEMPO, "Rating": TEMPO[::-1], "label_fast": FAST, "label_new": NEW})
    frame.to_csv(cli.folder / "songs.csv", index=False)
    cli("fit", "songs.csv", *FIT)
    frame.rename(columns={"Rating": "rating"}).to_csv(cli.folder / "new.csv", index=False)
    lacks = "spmld: new.csv: the file lacks 1 of the 2 features, Rating; did you mean 'rating'?"
    assert cli("predict", "model.skops", "new.csv") == (2, "", f"{lacks}\n")
    status, _, err = cli("predict", "model.skops", "new.csv", "--allow-missing")
    assert err.startswith(f"{lacks}; --allow-missing requires a model that was fitted on a table with text, categories")
    assert status == 2


def test_columns_are_unreadable_if_no_value_of_the_first_block_can_be_read(cli, monkeypatch, capsys):
    from spmld.app.commands import main

    table(tempo=TEMPO).to_csv(cli.folder / "songs.csv", index=False)
    cli("fit", "songs.csv", *FIT)
    monkeypatch.chdir(cli.folder)
    new = pd.concat([table(tempo=TEMPO.astype(str))] * 126, ignore_index=True)  # 20,160 rows, in two blocks
    for unreadable, status in ((new.index >= BLOCK_ROWS, 0), (new.index < BLOCK_ROWS, 2)):
        new.assign(tempo=new["tempo"].mask(unreadable, "fast")).to_csv("new.csv")
        with pytest.raises(SystemExit) as exit:
            main(["predict", "model.skops", "new.csv", "-o", "out.csv", "--force"])
        assert exit.value.code == status
    first, second = [line for line in capsys.readouterr().err.splitlines() if "tempo" in line]
    assert first.startswith(
        "spmld: note: 160 of 160 values of column 'tempo' cannot be read as numbers, such as 'fast'"
    )
    assert second.startswith("spmld: new.csv: 20000 of 20000 values of column 'tempo' cannot be read as numbers")


def test_a_copy_of_a_label_is_an_error_that_keep_accepts(cli):
    table(speed=np.where(FAST, "high", "low")).to_csv(cli.folder / "songs.csv", index=False)
    for command in (["fit", "songs.csv", *FIT], ["data", "describe", "songs.csv"]):
        assert cli(*command) == (
            2,
            "",
            "spmld: songs.csv: column 'speed' determines the label fast in all samples, as a copy of the label does "
            "(--drop speed or --keep speed)\n",
        )
        assert "category: mood, speed" in cli(*command, "--keep", "speed")[2]
        assert "category: mood;" in cli(*command, "--drop", "speed")[2]
