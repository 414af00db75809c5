"""Tables of a study: wins and losses of a method against its competitors, CPU times, and means over conditions."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spmld._table import TextTable
from spmld._validation import plural
from spmld.model_selection.statistics import PairedTest, Verdict
from spmld.plotting.displays import metric_label
from studies.config import Condition, Method, Study, StudyError, is_metric
from studies.figures import difference_figure
from studies.records import Records
from studies.results import StudyResult, collect_results, compare_with, greater_is_better, is_better
from studies.runner import final_trials, search_trials
from studies.tables import condition_table, format_value, metric_heading, version_note
from studies.trial import Trial

CARDINALITY = "cardinality_ratio"
"""Name of the number of predicted labels divided by the number of true labels."""


@dataclass(frozen=True)
class ComparisonRow:
    """Results in one condition, by method, and the competitor with the best mean."""

    condition: Condition
    results: dict[str, StudyResult]
    best: str

    @property
    def test(self) -> PairedTest | None:
        """Test of the best competitor against the reference."""
        return self.results[self.best].test


@dataclass(frozen=True)
class StudyComparison:
    """Result of `compare_methods`."""

    study: Study
    metric: str
    reference: str
    competitors: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    note: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Number of conditions by verdict on the reference against the best competitor."""
        verdicts = Counter(row.test.verdict for row in self.rows if row.test is not None)
        return {
            "better": verdicts[Verdict.WORSE],
            "no significant difference": verdicts[Verdict.NO_DIFFERENCE],
            "worse": verdicts[Verdict.BETTER],
        }

    def oracle_gains(self) -> dict[tuple[str, str], list[tuple[float, float]]]:
        """Return the relative gains of the reference and of an oracle over the same method without the oracle.

        Returns
        -------
        dict
            For each pair of method and oracle, a pair of gains for each condition.
        """
        gains: dict[tuple[str, str], list[tuple[float, float]]] = {}
        sign = 1 if greater_is_better(self.metric) else -1
        for oracle in (method for method in self.study.methods if method.oracle):
            for plain in self.study.methods:
                if plain.oracle or _setup(plain) != _setup(oracle):
                    continue
                for row in self.rows:
                    if {plain.name, oracle.name} <= set(row.results):
                        base, *others = (row.results[n].mean for n in (plain.name, self.reference, oracle.name))
                        ours, best = (sign * (mean / base - 1) for mean in others)
                        gains.setdefault((plain.name, oracle.name), []).append((ours, best))
        return gains

    def figure(self) -> Any:
        """Return a figure of the relative difference of each method from the reference, by condition."""
        sign = -1 if greater_is_better(self.metric) else 1
        rows = []
        for row in self.rows:
            base = row.results[self.reference].mean
            differences = {
                name: (sign * (result.mean / base - 1), result.test.verdict != Verdict.NO_DIFFERENCE)
                for name, result in row.results.items()
                if result.test is not None
            }
            rows.append((str(row.condition), differences))
        return difference_figure(rows, self.reference, f"{self.study.title}: {metric_label(self.metric)}")

    def markdown(self) -> str:
        """Return the table and its summary."""
        texts = {row.condition: {name: self._text(row, name) for name in row.results} for row in self.rows}
        table = condition_table(texts, self.study, labels=any(str(condition.corruption) for condition in texts))
        title = f"{metric_heading(self.metric)}: {self.study.title}"
        note = [self.note, ""] if self.note else []
        return "\n".join([title, "", table.to_markdown(), "", *note, self.brief()])

    def _text(self, row: ComparisonRow, name: str) -> str:
        result = row.results[name]
        sign = f" {result.test.verdict.sign}" if result.test is not None else ""
        best, reference = row.results[row.best], row.results[self.reference]
        first = row.best if row.test and is_better(self.metric, best.mean, reference.mean) else self.reference
        text = format_value(result.mean)
        return f"**{text}**{sign}" if name == first else f"{text}{sign}"

    def brief(self) -> str:
        """Return the counts of verdicts, and the fraction of the gap to each oracle that the reference closes."""
        counts = self.counts
        conditions = plural(sum(counts.values()), "condition")
        text = [
            f"{self.reference} against the best of {', '.join(self.competitors)} in {conditions}: "
            + ", ".join(f"{verdict} in {count}" for verdict, count in counts.items())
            + "."
        ]
        for (plain, oracle), pairs in self.oracle_gains().items():
            ours, best = np.mean(pairs, axis=0)
            text.append(
                f"Mean gain over {plain}: {best:.1%} for the oracle ({oracle}), {ours:.1%} for {self.reference}, which "
                f"closes {ours / best:.0%} of the gap."
            )
        return "\n".join(text)


def compare_methods(
    study: Study,
    records: Records,
    metric: str | None = None,
    reference: str | None = None,
    competitors: Sequence[str] = (),
    data: Sequence[str] = (),
) -> StudyComparison:
    """Compare a method with its competitors in each condition.

    Parameters
    ----------
    study : Study
        Study.
    records : Records
        Records. Conditions without results of the reference and at least one competitor are left out.
    metric : str, optional
        Any recorded metric. By default, the first one of the study.
    reference : str, optional
        Method to compare. By default, the reference of the study.
    competitors : sequence of str
        Competitors. By default, all other methods with the same number of verified samples, except oracles.
    data : sequence of str
        Data sets. By default, all of them.
    """
    names = [method.name for method in study.methods]
    metric, reference = metric or study.metrics[0], reference or study.reference or names[0]
    if not is_metric(metric):
        raise StudyError(f"metric must be a recorded metric, such as {', '.join(study.metrics)}, got {metric!r}")
    _check_names("method", [reference, *competitors], names, study)
    _check_names("data set", data, study.data, study)
    trusted = study.methods[names.index(reference)].trusted
    alike = (m.name for m in study.methods if not m.oracle and m.trusted == trusted and m.name != reference)
    compared = tuple(competitors) or tuple(alike)
    results = [
        result
        for result in collect_results([replace(study, metrics=(metric,))], records)
        if result.condition.data in (data or study.data)
    ]
    rows = tuple(_rows(results, reference, compared))
    return StudyComparison(study, metric, reference, compared, rows, version_note(study, records, data))


def _check_names(kind: str, names: Sequence[str], known: Sequence[str], study: Study) -> None:
    for name in names:
        if name not in known:
            raise StudyError(f"{kind} must be one of {', '.join(known)} in study {study.name}, got {name!r}")


def _rows(results: list[StudyResult], reference: str, compared: tuple[str, ...]) -> Iterator[ComparisonRow]:
    """Yield the results of one metric in each condition with the reference and a competitor."""
    for condition in dict.fromkeys(result.condition for result in results):
        here = {result.method.name: result for result in results if result.condition == condition}
        others = [here[name] for name in compared if name in here]
        if reference not in here or not others:
            continue
        base = here[reference]
        tested = {
            name: replace(result, test=None if result is base else compare_with(result, base), mark="")
            for name, result in here.items()
        }
        ordered = sorted(others, key=lambda result: result.mean, reverse=greater_is_better(base.metric))
        yield ComparisonRow(condition, tested, ordered[0].method.name)


def _setup(method: Method) -> tuple[Any, ...]:
    """Return the settings that an oracle shares with its method."""
    return method.estimator, method.fixed, method.search, method.trusted


@dataclass(frozen=True)
class StudyCosts:
    """Result of `compare_costs`: CPU seconds by condition and method."""

    study: Study
    reference: str
    seconds: dict[Condition, dict[str, float]]

    def ratios(self, method: str) -> list[float]:
        """Return the time of the reference divided by that of a method, in each condition with both."""
        both = [times for times in self.seconds.values() if {method, self.reference} <= set(times)]
        return [times[self.reference] / times[method] for times in both]

    def markdown(self) -> str:
        """Return the table and its summary."""
        texts = {place: {name: f"{t:.1f}" for name, t in times.items()} for place, times in self.seconds.items()}
        title = f"CPU seconds of parameter search and one fit: {self.study.title}"
        return "\n".join([title, "", condition_table(texts, self.study).to_markdown(), "", self.brief()])

    def brief(self) -> str:
        """Return the ratios of the reference's time to that of each method."""
        lines = []
        for name in (method.name for method in self.study.methods if method.name != self.reference):
            if ratios := self.ratios(name):
                low, middle, high = np.quantile(ratios, [0, 0.5, 1])
                times = f"{middle:.1f} times the CPU time of {name} (median; range {low:.1f} to {high:.1f})"
                lines.append(f"- {self.reference} needs {times}")
        return "\n".join(lines)


def compare_costs(study: Study, records: Records, reference: str, data: Sequence[str] = ()) -> StudyCosts:
    """Return the CPU time of each method in each condition: all fits of its search, and the mean of its final fits.

    Parameters
    ----------
    study : Study
        Study.
    records : Records
        Records. Failed and missing trials are ignored.
    reference : str
        Method whose time is compared with the others.
    data : sequence of str
        Data sets. By default, all of them.
    """
    seconds: dict[Condition, dict[str, float]] = {}
    final, search = (_times(trials, records) for trials in (final_trials(study, records), search_trials(study)))
    for (condition, method), times in final.items():
        if not data or condition.data in data:
            total = sum(search.get((condition, method), [])) + float(np.mean(times))
            seconds.setdefault(condition, {})[method] = total
    return StudyCosts(study, reference, seconds)


def _times(trials: list[Trial], records: Records) -> dict[tuple[Condition, str], list[float]]:
    """Return the CPU seconds of successful trials by condition and method."""
    times: dict[tuple[Condition, str], list[float]] = {}
    for trial in trials:
        record = records.trials.get(trial.key)
        if record is not None and record["status"] == "ok":
            times.setdefault((trial.condition, trial.method), []).append(record["cpu_seconds"])
    return times


@dataclass(frozen=True)
class StudySummary:
    """Result of `summarize_methods`: means over the conditions, by method and metric; NaN if one is missing."""

    study: Study
    n_conditions: int
    means: dict[str, dict[str, float]]
    note: str = ""

    def markdown(self) -> str:
        """Return the table, with the best mean of each metric in bold."""
        metrics = list(next(iter(self.means.values()), {}))
        headings = ["predicted / true labels" if name == CARDINALITY else metric_heading(name) for name in metrics]
        rows = [[method, *(self._text(method, name) for name in metrics)] for method in self.means]
        plural = "" if self.n_conditions == 1 else "s"
        title = f"Means over {self.n_conditions} condition{plural}: {self.study.title}"
        note = ["", self.note] if self.note else []
        return "\n".join([title, "", TextTable(["method", *headings], rows).to_markdown(), *note])

    def _text(self, method: str, metric: str) -> str:
        value, text = self.means[method][metric], format_value(self.means[method][metric])
        oracles = {method.name for method in self.study.methods if method.oracle}
        if metric == CARDINALITY or np.isnan(value) or method in oracles:
            return text
        others = [values[metric] for name, values in self.means.items() if name not in oracles]
        return text if any(is_better(metric, other, value) for other in others) else f"**{text}**"


def summarize_methods(
    study: Study, records: Records, metrics: Sequence[str] = (), data: Sequence[str] = ()
) -> StudySummary:
    """Return the mean of each metric over all conditions and masks, for each method.

    Parameters
    ----------
    study : Study
        Study.
    records : Records
        Records. A mean is NaN if the metric is not recorded in a condition in which another method has it.
    metrics : sequence of str
        Recorded metrics, or "cardinality_ratio" for the number of predicted labels divided by the number of true
        labels. By default, those of the study.
    data : sequence of str
        Data sets. By default, all of them.
    """
    metrics = tuple(metrics) or study.metrics
    for name in metrics:
        if name != CARDINALITY and not is_metric(name):
            raise StudyError(f"metric must be {CARDINALITY} or a recorded metric, got {name!r}")
    _check_names("data set", data, study.data, study)
    values: defaultdict[tuple[str, str], defaultdict[Condition, list[float]]]
    values = defaultdict(lambda: defaultdict(list))
    for trial in final_trials(study, records):
        recorded = records.metrics(trial)
        if recorded is None or trial.data not in (data or study.data):
            continue
        if recorded.get("true_cardinality"):
            recorded[CARDINALITY] = recorded["predicted_cardinality"] / recorded["true_cardinality"]
        for name in metrics:
            if not np.isnan(recorded.get(name, np.nan)):
                values[trial.method, name][trial.condition].append(recorded[name])
    conditions = {name: {place for (_, n), by in values.items() if n == name for place in by} for name in metrics}
    means = {
        method.name: {name: _mean(values[method.name, name], len(conditions[name])) for name in metrics}
        for method in study.methods
    }
    return StudySummary(study, len(set().union(*conditions.values())), means, version_note(study, records, data))


def _mean(values: dict[Condition, list[float]], n_conditions: int) -> float:
    """Return the mean of the means in each condition, NaN unless there are values in all of them."""
    complete = len(values) == n_conditions > 0
    return float(np.mean([np.mean(over_masks) for over_masks in values.values()])) if complete else float("nan")
