"""Hierarchies of labels on the command line: tables, tags, paths and ARFF files, from raw files to predictions."""

import json

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.app.commands import main
from spmld.labels import Hierarchy
from spmld.metrics import hierarchical_f1

PATHS = ["rock", "rock/metal", "rock/punk", "jazz", "jazz/bebop"]
PARENTS = {"rock/metal": "rock", "rock/punk": "rock", "jazz/bebop": "jazz"}
LEAVES = [path.rpartition("/")[2] for path in PATHS]
GENRES = "parent,child\nrock,metal\nrock,punk\njazz,bebop\n"
LOGISTIC = ("--method", "MaskedLogistic")


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with tables of songs and hierarchies; return exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    genre = rng.integers(5, size=240)  # the most specific label of each song
    X = pd.DataFrame(np.eye(5)[genre][:, :4] + rng.normal(scale=0.4, size=(240, 4)), columns=list("abcd"))
    X.insert(0, "nr", [f"s{i}" for i in range(240)])
    truth = np.array([[PATHS[g] == path or PATHS[g].startswith(path + "/") for path in PATHS] for g in genre])
    observed = np.where(rng.random(truth.shape) < 0.5, truth, np.nan)
    labels = pd.DataFrame(observed, columns=[f"label_{name}" for name in LEAVES]).astype("Int8")
    tables = {
        "columns": pd.concat([X, labels], axis=1),
        "paths": X.assign(tags=[PATHS[g] for g in genre]),
        "leaves": X.assign(tags=[LEAVES[g] for g in genre]),
    }
    for name, table in tables.items():
        table[:160].to_csv(f"{name}.csv", index=False)
        table[160:].to_csv(f"{name}_new.csv", index=False)
    (tmp_path / "genres.csv").write_text(GENRES)

    def call(*args):
        with pytest.raises(SystemExit) as exit:
            main(list(args))
        return exit.value.code, *capsys.readouterr()

    return call


def is_coherent(file, parents):
    """Return whether no label is predicted without its parent, and no probability is above that of the parent."""
    table = pd.read_csv(file)
    pairs = [(f"{p}{child}", f"{p}{parent}") for child, parent in parents.items() for p in ("", "probability_")]
    return all((table[child] <= table[parent]).all() for child, parent in pairs)


def test_a_table_of_parents_and_children(cli):
    code, _, notes = cli("fit", "columns.csv", "--id", "nr", "--hierarchy", "genres.csv", "-o", "m.skops", *LOGISTIC)
    assert code == 0
    assert "the hierarchy of genres.csv is used: 3 of 5 labels have a parent, and" in notes
    assert "--hierarchy genres.csv" in notes  # in the next command
    assert cli("predict", "m.skops", "columns_new.csv", "-o", "p.csv")[0] == 0
    assert is_coherent("p.csv", {"metal": "rock", "punk": "rock", "bebop": "jazz"})
    _, output, _ = cli("evaluate", "m.skops", "columns_new.csv", "--json")
    values = {row["name"]: row["value"] for row in json.loads(output)["metrics"]}
    Y = pd.read_csv("columns_new.csv").filter(like="label_").to_numpy()
    hierarchy = Hierarchy({0: [1, 2], 3: [4]})
    expected = hierarchical_f1(Y, pd.read_csv("p.csv")[LEAVES].to_numpy(), hierarchy=hierarchy)
    assert np.isclose(values["hierarchical_f1"], expected)
    code, _, error = cli("evaluate", "m.skops", "columns_new.csv", "--hierarchy", "genres.csv")
    assert code == 2
    assert "--hierarchy genres.csv cannot be combined with m.skops" in error


def test_tags_that_are_paths(cli):
    options = ("--tags", "tags", "--id", "nr", "--hierarchy", "/")
    views = ("--param", 'views=["linear"]', "--param", "Cs=[3.0]")
    code, _, notes = cli("fit", "paths.csv", *options, "-o", "m.skops", *views)
    assert code == 0
    assert "3 of 5 labels have a parent" in notes
    assert "became positive" not in notes
    assert spmld.model_info("m.skops").label_names == sorted(PATHS)
    assert cli("predict", "m.skops", "paths_new.csv", "-o", "p.csv")[0] == 0
    assert is_coherent("p.csv", PARENTS)
    _, output, _ = cli("evaluate", "m.skops", "paths_new.csv", "--json")
    rows = {row["label"]: row for row in json.loads(output)["per label"]}
    assert rows["rock"]["positives"] == pd.read_csv("paths_new.csv").tags.str.startswith("rock").sum()
    assert "hierarchical_f1" in output


def test_labels_of_the_hierarchy_that_are_no_tags_are_added(cli):
    file = "nested.json"
    pd.Series({"music": {"Rock": ["metal", "punk"], "jazz": "bebop"}}).to_json(file)
    options = ("--tags", "tags", "--id", "nr", "--hierarchy", file, *LOGISTIC)
    code, _, notes = cli("fit", "leaves.csv", *options, "-o", "m.skops")
    assert code == 0
    assert "labels of nested.json that are no tags are added: music" in notes
    assert "'metal' without 'rock'" in notes or "'punk' without 'rock'" in notes or "'bebop' without 'jazz'" in notes
    first = pd.read_csv("leaves.csv").query("tags in ['metal', 'punk', 'bebop']").nr.iloc[0]
    assert f"(sample {first}: " in notes
    assert spmld.model_info("m.skops").label_names == [*sorted(LEAVES), "music"]
    assert cli("predict", "m.skops", "leaves_new.csv", "-o", "p.csv")[0] == 0
    assert is_coherent("p.csv", {"rock": "music", "jazz": "music", "metal": "rock", "bebop": "jazz"})
    _, output, notes = cli("evaluate", "m.skops", "leaves_new.csv", "--json")
    assert "without 'jazz'" in notes
    assert "without 'music'" not in notes
    positives = {row["label"]: row["positives"] for row in json.loads(output)["per label"]}
    tags = pd.read_csv("leaves_new.csv").tags
    assert positives["rock"] == tags.isin(["rock", "metal", "punk"]).sum()
    assert positives["music"] == tags.isin(["rock", "metal", "punk", "jazz", "bebop"]).sum()


def test_arff_files_with_a_hierarchy_and_missing_features(cli):
    table = pd.read_csv("paths.csv")
    rows = table.drop(columns="nr").to_csv(index=False, header=False).splitlines()
    rows[0] = "?" + rows[0][rows[0].index(",") :]
    head = [f"@attribute {name} numeric" for name in "abcd"]
    with open("genes.arff", "w") as file:
        print("@relation genes", *head, f"@attribute class hierarchical {','.join(PATHS)}", sep="\n", file=file)
        print("@data", *rows, sep="\n", file=file)
    code, _, notes = cli("fit", "genes.arff", "-o", "m.skops", *LOGISTIC)
    assert code == 0
    assert "the hierarchy of genes.arff is used: 3 of 5 labels have a parent" in notes
    assert "missing features, which are replaced by medians" in notes
    assert cli("predict", "m.skops", "genes.arff", "-o", "p.csv")[0] == 0
    assert is_coherent("p.csv", PARENTS)


@pytest.mark.parametrize("command", ["audit", "complete", "compare"])
def test_other_commands_use_the_hierarchy_and_say_so(cli, command):
    method = () if command == "audit" else LOGISTIC
    options = ("--id", "nr", "--hierarchy", "genres.csv", *(("--folds", "2") if command != "complete" else ()))
    code, _, notes = cli(command, "columns.csv", *options, *method)
    assert code == 0
    assert "the hierarchy of genres.csv is used: 3 of 5 labels" in notes


def test_completed_tables_are_coherent(cli):
    fit = ("--id", "nr", "--hierarchy", "genres.csv", *LOGISTIC)
    cli("fit", "columns.csv", *fit, "-o", "m.skops")
    for arguments in (("columns.csv", *fit), ("columns_new.csv", "--model", "m.skops")):
        assert cli("complete", *arguments, "--min-confidence", "0", "-o", "filled.csv", "--force")[0] == 0
        filled = pd.read_csv("filled.csv").filter(like="label_")
        assert filled.notna().all(axis=None)
        assert (filled.label_metal <= filled.label_rock).all()
        assert (filled.label_bebop <= filled.label_jazz).all()


def test_a_fit_is_that_of_python(cli):
    cli("fit", "columns.csv", "--id", "nr", "--hierarchy", "genres.csv", "-o", "m.skops", *LOGISTIC)
    table = pd.read_csv("columns.csv")
    Y = table.filter(like="label_").rename(columns=lambda name: name.removeprefix("label_"))
    model = spmld.HierarchicalClassifier(spmld.MaskedLogistic(), {"rock": ["metal", "punk"], "jazz": ["bebop"]})
    expected = model.fit(table[list("abcd")], Y).predict_proba(table[list("abcd")])
    assert np.allclose(spmld.load("m.skops").predict_proba(table[list("abcd")]), expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("parent,child\nrock,metal\nmetal,rock\n", "must not have a cycle, got metal > rock > metal; remove one"),
        ("parent,child\nrock,mettal\n", "--hierarchy h.csv: hierarchy has 1 unknown label: 'mettal'; .*'metal'?"),
        ("parent,child\nmusic,rock\n", "unknown label: 'music'.*add them to Y, or remove them from the hierarchy"),
        (
            "general,specific\nrock,metal\n",
            "lacks 2 of the 2 columns, parent, child; the columns are general, specific; rename",
        ),
        ("parent,child\n", "it has no pair of a parent and a child; write one in each row"),
        ("", "h.csv is empty, expected a hierarchy of labels"),
        (None, "file h.csv does not exist"),
    ],
)
def test_errors_name_what_to_do(cli, tmp_path, content, message):
    if content is not None:
        (tmp_path / "h.csv").write_text(content)
    code, output, error = cli("fit", "columns.csv", "--id", "nr", "--hierarchy", "h.csv", "-o", "m.skops", *LOGISTIC)
    assert (code, output) == (2, "")
    assert pd.Series([error]).str.contains(message).all()
    assert not (tmp_path / "m.skops").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--hierarchy", "/"), "no label is below another one with the separator '/'"),
        (("--hierarchy", "genres.csv", "--precision", "rock=0.9"), "cannot be combined with a hierarchy"),
        (("--hierarchy", "genres.csv", "--decision", "f1", *LOGISTIC), "use SelfPacedEnsemble instead"),
    ],
)
def test_options_that_cannot_be_combined(cli, tmp_path, options, message):
    code, _, error = cli("fit", "columns.csv", "--id", "nr", "-o", "m.skops", *options)
    assert code == 2
    assert message in error
    assert not (tmp_path / "m.skops").exists()
