"""Comparison of a method with its competitors: one row for each condition, and the number of wins and losses."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spmld.model_selection.statistics import PairedTest, Verdict
from spmld.plotting.style import metric_label
from studies.config import Condition, Method, Study
from studies.figures import difference_figure
from studies.records import Records
from studies.results import StudyResult, collect_results, compare_with, greater_is_better, is_better
from studies.schema import StudyError, is_metric
from studies.tables import condition_table, format_value, metric_heading


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

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in plain types. Verdicts are those on each method against the reference."""
        conditions = [
            {
                **row.condition.to_dict(),
                "best_competitor": row.best,
                "methods": {
                    name: {"mean": result.mean, "verdict": None if result.test is None else str(result.test.verdict)}
                    for name, result in row.results.items()
                },
            }
            for row in self.rows
        ]
        names = {"study": self.study.name, "metric": self.metric, "reference": self.reference}
        return {**names, "competitors": list(self.competitors), "counts": self.counts, "conditions": conditions}

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
        return "\n".join([title, "", table.to_markdown(), "", self.brief()])

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
        text = [
            f"{self.reference} against the best of {', '.join(self.competitors)} in {sum(counts.values())} conditions: "
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

    Examples
    --------
    >>> import tempfile
    >>> from studies.loading import find_study, load_study
    >>> from studies.records import read_records
    >>> from studies.runner import run_study
    >>> from studies.comparison import compare_methods
    >>> study = load_study(find_study("smoke"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_study(study, folder + "/results.jsonl")
    ...     sum(compare_methods(study, read_records(folder + "/results.jsonl")).counts.values())
    2
    """
    names = [method.name for method in study.methods]
    metric, reference = metric or study.metrics[0], reference or study.reference or names[0]
    if not is_metric(metric):
        raise StudyError(f"metric must be a recorded metric, such as {', '.join(study.metrics)}, got {metric!r}")
    for kind, values, known in (
        ("method", [reference, *competitors], names),
        ("data set", data, study.data),
    ):
        for value in values:
            if value not in known:
                raise StudyError(f"{kind} must be one of {', '.join(known)} in study {study.name}, got {value!r}")
    trusted = study.methods[names.index(reference)].trusted
    alike = (m.name for m in study.methods if not m.oracle and m.trusted == trusted and m.name != reference)
    compared = tuple(competitors) or tuple(alike)
    results = [
        result
        for result in collect_results([replace(study, metrics=(metric,))], records)
        if result.condition.data in (data or study.data)
    ]
    return StudyComparison(study, metric, reference, compared, tuple(_rows(results, reference, compared)))


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
