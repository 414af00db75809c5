"""``spmld update``: new samples, corrected labels and new labels, in a model that keeps its data."""

import os

import numpy as np
import pandas as pd
import pytest

import spmld

SMALL = ("--param", 'views=["linear", "ridge"]', "--no-held-out")


@pytest.fixture
def table(cli):
    """A model of the first samples, with their identifiers, in old.skops."""
    table = pd.read_csv("train.csv").assign(name=lambda frame: [f"s{i}" for i in range(len(frame))])
    table[:80].to_csv("old.csv", index=False)
    table[80:].to_csv("new.csv", index=False)
    assert cli("fit", "old.csv", "--id", "name", "-o", "old.skops", "--keep-data", *SMALL)[0] == 0
    return table


def kept(path):
    loaded = spmld.load(path)
    return getattr(loaded, "named_steps", {"estimator": loaded})["estimator"].training_data_


def test_new_samples_are_added_and_the_old_file_is_not_needed(cli, table):
    os.remove("old.csv")
    status, _, err = cli("update", "old.skops", "new.csv", "-o", "new.skops")
    assert status == 0
    assert f"{len(table) - 80} new samples, 0 corrected labels" in err
    assert len(kept("new.skops").samples.signs) == len(table)
    assert cli("predict", "new.skops", "test.csv", "-o", "p.csv")[0] == 0


def test_rows_of_training_samples_correct_their_labels(cli, table):
    label = next(name for name in table.columns if name.startswith("label_"))
    row = table[:80][table[:80][label].notna()].index[0]
    changed = table.loc[[row]].assign(**{label: 1 - table.loc[row, label]})
    changed.to_csv("corrected.csv", index=False)
    status, _, err = cli("update", "old.skops", "corrected.csv", "-o", "new.skops")
    assert (status, "0 new samples, 1 corrected label" in err) == (0, True)
    before, after = kept("old.skops").samples.signs, kept("new.skops").samples.signs
    assert np.argwhere(before != after)[:, 0].tolist() == [row]


def test_a_model_without_its_data_and_another_method_are_named(cli, table):
    assert cli("fit", "old.csv", "--id", "name", "-o", "plain.skops", *SMALL)[0] == 0
    status, _, err = cli("update", "plain.skops", "new.csv", "-o", "new.skops")
    assert status == 2
    assert "plain.skops has no training data, which an update needs; fit it with spmld fit --keep-data" in err
    assert cli("fit", "old.csv", "-o", "other.skops", "--method", "LabelPrior", "--no-held-out")[0] == 0
    status, _, err = cli("update", "other.skops", "new.csv", "-o", "new.skops")
    assert status == 2
    assert "only SelfPacedEnsemble without a hierarchy can be updated" in err
    assert not os.path.exists("new.skops")


def test_other_features_and_unclear_identifiers_are_named(cli, table):
    feature = next(name for name in table.columns if not name.startswith("label_") and name != "name")
    changed = table[:3].copy()
    changed.loc[0, feature] += 1
    changed.to_csv("changed.csv", index=False)
    status, _, err = cli("update", "old.skops", "changed.csv", "-o", "new.skops")
    assert (status, "1 row with the identifier of a training sample and other features" in err) == (0, True)
    table[80:84].assign(name=["a", "a", None, "b"]).to_csv("unclear.csv", index=False)
    status, _, err = cli("update", "old.skops", "unclear.csv", "-o", "new.skops", "--force")
    assert status == 0
    assert "2 new samples with an identifier that occurs more than once" in err
    assert "1 row without an identifier, used as new samples" in err
    assert "other features" not in err


def test_an_update_without_labels_is_an_error(cli, table):
    labels = [name for name in table.columns if name.startswith("label_")]
    table[80:].assign(**dict.fromkeys(labels)).to_csv("empty.csv", index=False)
    status, _, err = cli("update", "old.skops", "empty.csv", "-o", "new.skops")
    assert (status, "empty.csv" in err and "no label is observed: all fields of the labels are empty" in err) == (
        2,
        True,
    )


def test_data_are_not_kept_for_fits_that_cannot_be_updated(cli, table):
    first, second = [name.removeprefix("label_") for name in table.columns if name.startswith("label_")][:2]
    pd.DataFrame({"parent": [first], "child": [second]}).to_csv("tree.csv", index=False)
    table.assign(person="ann").to_csv("answers.csv", index=False)
    for data, options, name in (
        ("old.csv", ("--hierarchy", "tree.csv"), "a hierarchy"),
        ("answers.csv", ("--annotator", "person"), "--annotator"),
    ):
        status, _, err = cli("fit", data, "--id", "name", *options, "-o", "no.skops", "--keep-data", *SMALL)
        assert (status, f"--keep-data cannot be combined with {name}" in err) == (2, True)
        assert not os.path.exists("no.skops")


def test_tags_with_another_separator_are_an_error(cli):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    lists = [[name for name, value in zip(("calm", "folk"), row, strict=True) if value > 0] for row in x]
    for path, sep in (("semicolons.csv", "; "), ("commas.csv", ", ")):
        frame = pd.DataFrame(x, columns=["a", "b"]).assign(tags=[sep.join(tags) for tags in lists])
        frame.to_csv(path, index=False)
    options = ("--tags", "tags", "-o", "tags.skops", "--keep-data", "--empty-is", "negative", *SMALL)
    assert cli("fit", "semicolons.csv", *options)[0] == 0
    status, _, err = cli("update", "tags.skops", "commas.csv", "-o", "new.skops")
    assert status == 2
    assert "tags of 'tags' are lists of labels, such as 'calm, folk', but the separator was ';'" in err
    assert "--tag-sep" in err
    assert cli("update", "tags.skops", "commas.csv", "-o", "new.skops", "--tag-sep", ",")[0] == 0
