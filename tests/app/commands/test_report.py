"""``spmld report`` in a separate process: pages and errors."""

import json

import pandas as pd
import pytest

from tests.app.commands.songs import LABELS, run, write_songs
from tests.app.reports.tables import Page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_songs(folder)
    status, _, err = run(folder, "fit", "train.csv", "-o", "songs.skops", "--method", "MaskedLogistic")
    assert status == 0, err
    pd.read_csv(folder / "test.csv").filter(regex="^(?!label_)").to_csv(folder / "unlabeled.csv", index=False)
    return folder


def test_report_on_a_model_has_the_values_of_evaluate(folder):
    status, out, err = run(folder, "report", "test.csv", "--model", "songs.skops", "-o", "songs.html", "--no-audit")
    assert (status, out) == (0, ""), err
    assert err == f"songs.html: {(folder / 'songs.html').stat().st_size / 1000:,.0f} kB\n"
    page = Page((folder / "songs.html").read_text(encoding="utf-8"))
    _, out, _ = run(folder, "evaluate", "songs.skops", "test.csv", "--json")
    expected = {row["name"]: row["value"] for row in json.loads(out)["metrics"]}
    shown = {row["metric"]: row["value"] for row in page.tables["All metrics"]}
    assert shown["ranking loss"] == f"{expected['ranking_loss']:.4f}"
    assert [row["label"] for row in page.tables["All labels"]] == LABELS
    assert "MaskedLogistic on test.csv" in page.text
    status, _, err = run(folder, "report", "test.csv", "--model", "songs.skops", "-o", "songs.html")
    assert (status, err) == (2, "spmld: songs.html already exists; use --force to overwrite it\n")


def test_a_method_is_fitted_and_evaluated_on_a_held_out_fifth(folder):
    status, _, err = run(
        folder, "report", "train.csv", "--method", "labelprior", "-o", "prior.html", "--title", "<Mine>"
    )
    assert status == 0, err
    html = (folder / "prior.html").read_text(encoding="utf-8")
    page = Page(html)
    assert "<h1>&lt;Mine&gt;</h1>" in html
    assert "a fifth of the samples, held out from the fit" in page.text
    assert "24 samples, 4 labels" in page.text
    assert page.tables["Labels that are present and unlikely"]
    assert "Missing labels" in page.sections


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["absent.csv", "-o", "x.html"], "spmld: file absent.csv does not exist"),
        (["test.csv", "--model", "absent.skops", "-o", "x.html"], "absent.skops"),
        (["test.csv", "--model", "train.csv", "-o", "x.html"], "train.csv"),
        (["songs.skops", "-o", "x.html"], "spmld: songs.skops is a model file; pass the data to evaluate it on"),
        (
            ["test.csv", "--model", "songs.skops", "--param", "C=1", "-o", "x.html"],
            "--param cannot be combined with --model",
        ),
        (["unlabeled.csv", "-o", "x.html"], "spmld: unlabeled.csv"),
        (["unlabeled.csv", "--model", "songs.skops", "-o", "x.html"], "spmld: unlabeled.csv"),
        (
            ["train.csv", "--method", "absent", "-o", "x.html"],
            "Invalid value for '--method': must be one of SelfPacedEnsemble",
        ),
        (["train.csv", "-o", "absent/x.html"], "spmld: cannot write x.html: folder absent does not exist"),
        (["train.csv"], "Missing option '-o'"),
    ],
)
def test_errors_exit_with_2_and_write_no_file(folder, args, message):
    before = {path.name for path in folder.iterdir()}
    status, out, err = run(folder, "report", *args)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert {path.name for path in folder.iterdir()} == before


def test_fewer_than_five_samples_raise(folder):
    (folder / "few.csv").write_text("".join((folder / "train.csv").read_text().splitlines(keepends=True)[:4]))
    status, _, err = run(folder, "report", "few.csv", "-o", "few.html")
    assert status == 2
    assert "SOURCE must have at least 5 samples to hold out a fifth, got 3" in err
