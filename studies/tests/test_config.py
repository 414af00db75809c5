import re
import tomllib
from pathlib import Path

import pytest

from studies.config import StudyError, list_studies, load_study, parse_study
from studies.records import Records
from studies.runner import final_trials, search_trials
from studies.tests.cases import linear, make
from studies.trial import Trial, build


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sedes": [1]}, "study tiny: .* unexpected keyword argument 'sedes'"),
        ({"report": "pie"}, "report must be one of tables, radar, surface, got 'pie'"),
        ({"metrics": ["rkl"]}, "must be names of recorded metrics, got rkl"),
        ({"metrics": ["precision_at_2"]}, "got precision_at_2"),
        ({"metrics": ["propensity_scored_precision_at_3"]}, "got propensity"),
        ({"select_by": "rkl"}, "must be names of recorded metrics, got rkl"),
        ({"select_seed": 1}, "select_seed must not be one of seeds, got 1"),
        ({"reference": "SPMLD"}, "reference must be one of linear, noisy, got 'SPMLD'"),
        ({"methods": [linear(), linear()]}, "distinct names, got linear, linear"),
        ({"methods": [linear(serach={"ridge": [1]})]}, "unexpected keyword argument 'serach'"),
        ({"methods": [{"name": "x"}]}, "missing 1 required positional argument: 'estimator'"),
        ({"evaluated_on": "train"}, "evaluated_on must be one of test, missing, audit, got 'train'"),
        ({"methods": [linear(search={"ridge": [1, 2, 3]})]}, "must have 2 settings, the budget of every method, got 3"),
        ({"methods": [linear(fixed={"ridge": 1}, sweep={"ridge": [1]})]}, "share parameters, got ridge repeated"),
        ({"corruption": [{"kind": "melt", "rate": 0.1}]}, "kind must be one of none, permute"),
        ({"corruption": [{"kind": "flip"}]}, "rate must be above 0"),
        ({"hiding": "none"}, "hiding must be one of stratified, single_positive, got 'none'"),
        ({"hiding": "single_positive"}, r'observed must be \[1.0\] with hiding = "single_positive", got \[0.5\]'),
    ],
)
def test_an_invalid_value_raises_an_error_that_names_it(change, message):
    with pytest.raises(StudyError, match=message):
        make(**change)


def test_a_study_is_restored_from_its_dictionary():
    study = make(
        corruption=[{"kind": "flip", "rate": 0.1}], reference="noisy", standardize=["planted"], evaluated_on="missing"
    )
    assert parse_study(study.as_dict(), "tiny") == study
    single = make(hiding="single_positive", observed=[1.0], methods=[linear(trusted=5), linear("oracle", oracle=True)])
    assert parse_study(single.as_dict(), "tiny") == single
    assert not {"hiding", "trusted"} & {*study.as_dict(), *study.as_dict()["methods"][0]}  # as in older records


def test_settings_are_all_combinations_in_the_order_of_the_file():
    method = make(methods=[linear(search={"ridge": [2, 1], "noise": [0.1]})]).methods[0]
    assert list(method.settings()) == [{"ridge": 2, "noise": 0.1}, {"ridge": 1, "noise": 0.1}]
    assert list(method.sweeps()) == [{}]


def test_files_that_cannot_be_read(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("title = ")
    with pytest.raises(StudyError, match=r"mine.toml cannot be read as TOML"):
        load_study(file)
    file.write_bytes(b"title = '\xff'")
    with pytest.raises(StudyError, match=r"mine.toml cannot be read as TOML"):
        load_study(file)
    for name in ("tabels", tmp_path / "none.toml"):
        with pytest.raises(StudyError, match=r"study must be one of .*tables.*, or an existing .toml file, got"):
            load_study(name)


SHIPPED = {name: load_study(name) for name in list_studies()}


@pytest.mark.parametrize(
    ("study", "method"), [(s, m) for s in SHIPPED.values() for m in s.methods], ids=lambda v: v.name
)
def test_every_setting_of_the_shipped_studies_is_accepted(study, method):
    for setting in [*method.settings(), *method.sweeps()]:
        params = {**method.fixed, **setting}
        model = build(Trial("test", study.data[0], 0.3, 0, method.name, method.estimator, params))
        assert {name: model.get_params()[name] for name in params} == params


DOCS = (Path(__file__).parents[1] / "docs" / "reproduce.md").read_text(encoding="utf-8")


def test_trials_have_the_labels_of_their_method():
    methods = [linear("a", trusted=7), linear("b", oracle=True, search={"ridge": [1, 2]})]
    study = make(methods=methods, hiding="single_positive", observed=[1.0])
    final = final_trials(study, Records())
    assert {(trial.method, trial.trusted, trial.oracle) for trial in final} == {("a", 7, False)}
    assert {(trial.oracle, trial.hiding) for trial in search_trials(study)} == {(True, "single_positive")}
    assert {trial.condition for trial in search_trials(study)} == set(study.conditions)


@pytest.mark.parametrize("study", SHIPPED.values(), ids=lambda study: study.name)
def test_the_docs_list_the_number_of_trials(study):
    final = len(study.conditions) * len(study.seeds) * sum(len(list(m.sweeps())) for m in study.methods)
    documented = re.search(rf"^\| `{study.name}` \|.*\| ([\d,]+) \|$", DOCS, re.MULTILINE)[1]
    assert int(documented.replace(",", "")) == len(search_trials(study)) + final


def test_the_study_in_the_docs_is_accepted():
    (text,) = re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)
    study = parse_study(tomllib.loads(text), "docs")
    assert (study.corruption[0].kind, [len(list(m.settings())) for m in study.methods]) == ("permute", [4, 4])


def test_trials_are_standardized_on_the_data_sets_of_the_study():
    study = make(data=["planted", "emotions"], standardize=["emotions"], methods=[linear()])
    for trials in (
        search_trials(make(data=["planted", "emotions"], standardize=["emotions"])),
        final_trials(study, Records()),
    ):
        assert {(trial.data, trial.standardize) for trial in trials} == {("planted", False), ("emotions", True)}
