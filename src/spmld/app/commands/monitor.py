"""``spmld monitor``: shifts of samples without labels."""

import click

from spmld._io import writing
from spmld.app.commands import options
from spmld.app.commands.loading import Source
from spmld.app.commands.matching import match, open_model, problems_of
from spmld.app.commands.printing import check_output_path, print_json, print_message, print_table, progress_bar

ALARM = 3
"""Exit status after an alarm, which no failure has."""


@click.command()
@click.argument("model")
@options.source_options("data", part="test", allow_missing=True)
@click.option("--report", metavar="FILE", help="HTML page to write, such as page.html.")
@options.force_option
@click.option(
    "--false-alarm-rate",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Probability of an alarm if nothing has changed.",
)
@options.integer("--top", 10, "Maximum number of rows in each table.", minimum=1)
@options.trust_type_option
@options.json_option
@click.pass_context
def monitor(
    context: click.Context,
    model: str,
    data: Source,
    report: str | None,
    force: bool,
    false_alarm_rate: float,
    top: int,
    trusted_types: tuple[str, ...],
    as_json: bool,
) -> None:
    """Test whether DATA, without labels, differ from the training data of MODEL.

    The exit status is 3 if the frequency of a label, the scores of a label, or a feature has changed, and 0 if no shift
    was found. Failures have other ones. Labels in DATA are ignored.

    \b
    Examples:
      spmld monitor songs.skops new.csv
      spmld monitor songs.skops new.csv --report new.html --json
    """
    from sklearn.pipeline import Pipeline

    from spmld.monitoring import monitor as monitor_samples

    check_output_path(report, force)
    estimator, info = open_model(model, trusted_types, data)
    if not hasattr(estimator[-1] if isinstance(estimator, Pipeline) else estimator, "reference_"):
        raise ValueError(
            f"{model} contains {info.summary.get('method', 'a model')} without a summary of its training data, which "
            "monitoring needs; fit SelfPacedEnsemble with a linear view and without a hierarchy"
        )
    matched = match(data, model, info, labels=False)
    with progress_bar(None, "monitoring"), problems_of(data.path):
        result = monitor_samples(
            estimator,
            matched.X,
            false_alarm_rate=false_alarm_rate,
            feature_names=None if info.encoded else info.feature_names,
            label_names=matched.label_names,
        )
    if report is not None:
        from spmld.app.reports import monitoring_report

        html = monitoring_report(result, title=f"Monitoring of {data.name}")
        with writing(report) as part:
            part.write_text(html, encoding="utf-8")
    if as_json:
        print_json({"model": model, "data": data.path, **result.to_dict()})
    else:
        for table in result.tables(top):
            print_table(table)
            click.echo()
        print_message(result.summary)
    context.exit(ALARM if result.alarm else 0)
