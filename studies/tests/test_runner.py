import json
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studies import runner as module
from studies.config import Condition, StudyError
from studies.records import Records, read_records
from studies.runner import choose, final_trials, run_study, search_trials
from studies.tests.cases import comparable, linear, make

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "results.jsonl"
    outcome = run_study(make(), path)
    assert (outcome.done, outcome.before, outcome.failed) == (6, 0, [])
    return path


def test_a_finished_trial_is_never_run_again(whole, monkeypatch):
    before = whole.read_bytes()
    monkeypatch.setattr(module, "attempt", lambda trial: pytest.fail("a trial was run again"))
    outcome = run_study(make(), whole)
    assert (outcome.done, outcome.before) == (0, 6)
    assert whole.read_bytes() == before


def test_a_truncated_file_is_resumed_to_the_same_file(whole, tmp_path):
    content = whole.read_bytes()
    path = tmp_path / "results.jsonl"
    for length in random.Random(0).sample(range(len(content)), 12):
        path.write_bytes(content[:length])
        run_study(make(), path)
        assert comparable(path) == comparable(whole), length


def test_the_file_does_not_depend_on_the_order_of_its_lines(whole, tmp_path):
    lines = whole.read_bytes().splitlines(keepends=True)
    path = tmp_path / "results.jsonl"
    for seed in range(3):
        path.write_bytes(b"".join(random.Random(seed).sample(lines, len(lines))))
        assert run_study(make(), path).done == 0
        assert path.read_bytes() == whole.read_bytes()


def test_a_killed_run_is_resumed_to_the_same_file(tmp_path):
    """The process is killed by SIGKILL at an arbitrary moment."""
    study = make(seeds=list(range(40)), methods=[linear(search={"ridge": [1.0, 1e6]})])
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    run_study(study, whole)
    code = (
        "import json, sys; from studies.config import parse_study; from studies.runner import run_study\n"
        "run_study(parse_study(json.loads(sys.argv[1]), 'tiny'), sys.argv[2])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(study.as_dict()), str(killed)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src")))},
    )
    deadline = time.monotonic() + 60
    while (not killed.exists() or killed.read_bytes().count(b"\n") < 5) and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert 5 <= killed.read_bytes().count(b"\n") < whole.read_bytes().count(b"\n")
    outcome = run_study(study, killed)
    assert outcome.before > 0
    assert comparable(killed) == comparable(whole)


def test_a_compressed_file_is_resumed_and_has_the_same_records(whole, tmp_path):
    path = tmp_path / "results.jsonl.xz"
    lines = whole.read_bytes().splitlines(keepends=True)
    path.write_bytes(lzma.compress(b"".join(lines[:4])))
    path.with_name(path.name + ".journal").write_bytes(lines[4] + lines[5][:20])
    outcome = run_study(make(), path)
    assert outcome.before == 3  # the first two records are the study and the data set
    assert comparable(path) == comparable(whole)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_parallel_trials_give_the_same_file(whole, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, ROOT / "src"))))
    path = tmp_path / "results.jsonl"
    run_study(make(), path, n_jobs=2)
    assert comparable(path) == comparable(whole)


def test_a_failure_is_recorded_and_the_study_continues(tmp_path, monkeypatch):
    study = make(methods=[linear("broken", fixed={"fail_on": 0}), linear()])
    path = tmp_path / "results.jsonl"
    outcome = run_study(study, path)
    assert outcome.done == 4
    assert [record["error"] for record in outcome.failed] == ["RuntimeError: no fit with seed 0"]
    assert run_study(study, path).done == 0
    assert run_study(study, path, retry=True).done == 1
    assert len(path.read_text().splitlines()) == 2 + 4


def test_the_choice_is_the_best_held_out_setting(whole):
    study, records = make(), read_records(whole)
    choice = choose(study, Condition("planted", 0.5), study.methods[0], records)
    scores = [score for _, score in choice.scores]
    assert choice.params == [{"ridge": 1.0}, {"ridge": 1e6}][scores.index(min(scores))]
    assert {t.seed for t in search_trials(study)} == {1000}
    params = [t.params for t in final_trials(study, records) if t.method == "linear"]
    assert params == [choice.params] * 2


@pytest.mark.parametrize(("metric", "best"), [("ranking_loss", "low"), ("sample_auc", "high")])
def test_the_choice_follows_the_direction_of_the_metric(metric, best):
    study = make(select_by=metric)
    values = dict(zip([trial.key for trial in search_trials(study)], (0.2, 0.8), strict=True))
    trials = [
        {
            "kind": "trial",
            "key": trial.key,
            "trial": trial.as_dict(),
            "status": "ok",
            "metrics": {metric: values[trial.key]},
        }
        for trial in search_trials(study)
    ]
    choice = choose(study, Condition("planted", 0.5), study.methods[0], Records(trials))
    assert choice.params == {"ridge": {"low": 1.0, "high": 1e6}[best]}


def test_a_method_whose_search_fails_is_not_evaluated(tmp_path):
    study = make(methods=[linear(fixed={"fail_on": 1000}, search={"ridge": [1.0, 2.0]}), linear("good")])
    outcome = run_study(study, tmp_path / "results.jsonl")
    assert outcome.without_choice == ["linear on planted, 50% observed"]
    assert len(outcome.failed) == 2
    assert outcome.done == 4


def test_invalid_methods_and_data_raise_before_the_first_fit(tmp_path):
    path = tmp_path / "results.jsonl"
    with pytest.raises(StudyError, match=r"study tiny, method linear: parameters of linear: .*'speed'"):
        run_study(make(methods=[linear(fixed={"speed": 1})]), path)
    with pytest.raises(StudyError, match=r"method x: estimator must be .* got spmld.Nothing"):
        run_study(make(methods=[{"name": "x", "estimator": "spmld.Nothing"}]), path)
    with pytest.raises(StudyError, match=r"data set nothing: "):
        run_study(make(data=["planted", "nothing"]), path)
    assert not read_records(path).trials


def test_a_changed_study_reuses_the_records(whole, tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(whole.read_bytes())
    outcome = run_study(make(seeds=[0, 1, 2]), path)
    assert (outcome.done, outcome.before) == (2, 6)
    assert read_records(path).study("tiny").seeds == (0, 1, 2)
