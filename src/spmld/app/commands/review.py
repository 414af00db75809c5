"""``spmld review`` and ``spmld correct``: review labels in the browser, and write the annotations into the file."""

import getpass
import webbrowser
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from spmld._io import writing
from spmld._table import TextTable
from spmld._validation import plural
from spmld.app.commands import options
from spmld.app.commands.loading import Source
from spmld.app.commands.printing import check_output_path, print_json, print_message, progress_bar
from spmld.app.commands.review_data import (
    audit_again,
    describe_unmatched,
    label_form,
    load_review,
    open_editable,
    open_samples,
    read_answers,
)
from spmld.app.review import (
    Annotation,
    AnnotationStore,
    ReviewServer,
    ReviewSession,
    apply_annotations,
    export_entries,
    make_queue,
    sample_queue,
)
from spmld.app.review.annotations import Place, match_annotations
from spmld.app.review.applying import Applied, TagColumn
from spmld.app.review.editable_tables import EditableTable, check_extension, check_table, to_text, without_gz
from spmld.app.review.queue import KINDS
from spmld.app.review.store import check_store
from spmld.app.review.table_samples import TableSamples
from spmld.audit import LabelIssues
from spmld.datasets.frames import identifier_text

_KINDS = {"present": "present", "absent": "absent", "missing": "missing", "unlabeled": "in samples without labels"}


@click.command()
@options.source_options("data", part="all", trusted=True, allow_missing=True)
@click.option("--model", metavar="MODEL", help="Model file that predicts the missing labels.")
@options.trust_type_option
@click.option("--db", metavar="FILE", help="SQLite file for the annotations.  [default: DATA with .review.sqlite]")
@click.option("--reviewer", metavar="NAME", help="Name of the reviewer.  [default: the user of this computer]")
@click.option("--overlap", is_flag=True, help="Show all entries, also those of other reviewers.")
@click.option("--image", metavar="COLUMN", help="Column with paths of images, relative to the folder of DATA.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Kind of entries; can be repeated.")
@options.integer("--top", 10_000, "Maximum number of entries.")
@click.option(
    "--verify",
    type=click.IntRange(1),
    metavar="N",
    help="Review a random sample of N observed entries, and estimate the number of wrong entries.",
)
@options.integer("--port", 0, "Port of the page; 0 selects a free one.", minimum=0, maximum=65_535)
@click.option("--no-browser", is_flag=True, help="Print the address of the page without opening a browser.")
@click.option("--export", metavar="FILE", help="Write the entries to .jsonl, or .json for Label Studio, and exit.")
@click.option("--import", "imported", metavar="FILE", help="Add annotations from .jsonl, or .json of Label Studio.")
@options.seed_option("Seed for the folds of the audit.")
@options.force_option
def review(
    data: Source,
    model: str | None,
    trusted_types: tuple[str, ...],
    db: str | None,
    reviewer: str | None,
    overlap: bool,
    image: str | None,
    kinds: tuple[str, ...],
    top: int,
    verify: int | None,
    port: int,
    no_browser: bool,
    export: str | None,
    imported: str | None,
    seed: int,
    force: bool,
) -> None:
    """Review the labels of DATA, a table, in the browser, one entry at a time.

    Entries are ordered by the probability of the opposite value: labels that are present and unlikely, labels that are
    absent and likely, missing labels, and samples to label next; --kind chooses among them. The keys are y (yes), n
    (no), u (unsure), s (skip) and z (undo). Each annotation is stored in a SQLite file before the next entry is shown.
    The order is updated after every 50 annotations. The page is served on 127.0.0.1 only. Stop with Ctrl-C, and run the
    same command to continue. With --model, the roles of the columns, the probabilities of missing labels and the
    evidence are those of the model.

    With --verify, a random sample of the observed labels is shown in random order. When the command ends, it prints
    the estimated number of wrong labels in DATA with a 90 % confidence interval.

    \b
    Examples:
      spmld review songs.csv
      spmld review songs.csv --text review --tags tags --id song_id
      spmld review songs.csv --model songs.skops --reviewer ann
      spmld review songs.csv --verify 50
      spmld review songs.csv --export tasks.json
    """
    if export is not None and Path(export).suffix.lower() not in (".jsonl", ".json"):
        raise ValueError(f"--export must be a file .jsonl, or .json for Label Studio, got {export}")
    if verify is not None and kinds:
        raise ValueError(f"--kind {kinds[0]} cannot be combined with --verify, a sample of all observed entries")
    check_output_path(export, force)
    check_table(data.path, data.table_kind or "other")
    file = db or str(without_gz(data.path).with_suffix(".review.sqlite"))
    check_store(file)
    annotations = [] if imported is None else read_answers(imported, data.options.get("id"))
    loaded = load_review(data, model, trusted_types, seed, evidence=export is None)
    samples = open_samples(loaded.source, loaded.data, image)
    names = list(loaded.data.label_names)
    annotations, unmatched = match_annotations(annotations, samples, names)
    if unmatched:
        described = describe_unmatched(unmatched, len(annotations), str(imported), loaded.source, names)
        raise ValueError(
            f"{described}; nothing is imported. Pass the data and the options of the export, or remove them"
        )
    arrange = partial(make_queue, probabilities=loaded.probabilities, kinds=kinds or KINDS, max_entries=top)
    issues = loaded.issues
    queue = arrange(issues) if verify is None else sample_queue(issues, min(verify, top), seed)
    if export is not None and imported is None and not Path(file).exists():  # an export alone needs no SQLite file
        print_message(_summary(queue))
        _export(queue, samples, {}, export, image, loaded.source)
        return
    with AnnotationStore(file) as store:
        if imported is not None:
            _import(store, annotations, imported)
        print_message(_summary(queue))
        if export is not None:
            _export(queue, samples, store.outcomes(), export, image, loaded.source)
            return
        name = reviewer or getpass.getuser()
        shown = samples, loaded.evidence
        session = ReviewSession(queue, store, *shown, reviewer=name, overlap=overlap, title=data.name)
        if verify is None:
            session.on_update(lambda outcomes: arrange(audit_again(loaded, outcomes, samples.keys, seed)))
        _serve(session, port, no_browser, loaded.source)
        if verify is not None:
            print_message(_estimate(session.checked(), issues))


def _import(store: AnnotationStore, annotations: list[Annotation], path: str) -> None:
    """Store annotations of a file, and print how many are new."""
    added = store.merge(annotations)
    skipped = len(annotations) - added
    reason = f"; {skipped} are skipped, since the same reviewer has decided later, or they are stored already"
    print_message(f"{store.path}: {plural(added, 'annotation')} imported from {path}{reason if skipped else ''}")


def _summary(queue: Any) -> str:
    if (queue.kind == "random").any():
        return f"{plural(len(queue), 'random entry')} to verify"
    counts = [f"{count} {_KINDS[kind]}" for kind, count in queue.kind.value_counts(sort=False).items() if count]
    kinds = ", ".join(counts) or "none"
    return f"{plural(len(queue), 'entry')} to review ({kinds})"


def _estimate(wrong: list[bool], issues: LabelIssues) -> str:
    """Return the estimated number of wrong entries, from the verified entries of a random sample."""
    if not wrong:
        return "no estimate of the number of wrong entries, since no entry of the random sample is decided"
    estimate = issues.estimate(wrong)
    return (
        f"about {estimate.n_wrong:.0f} wrong entries (90 % interval: {estimate.lower:.0f} to {estimate.upper:.0f}), "
        f"since {sum(wrong)} of {len(wrong)} entries of the random sample are wrong"
    )


def _serve(session: ReviewSession, port: int, no_browser: bool, source: Source) -> None:
    server = ReviewServer(session, port)
    progress = session.progress()
    if progress["decided"]:
        with progress_bar(None, "updating the order"):
            session.update()
    print_message(
        f"{session.store.path}: {progress['decided']} of {progress['entries']} entries decided\n"
        f"Open {server.url}\n"
        "Stop with Ctrl-C; all annotations are stored, and the same command continues."
    )
    try:
        if not no_browser:
            webbrowser.open(server.url)
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    progress = session.progress()
    print_message(
        f"{progress['decided']} of {progress['entries']} entries decided, "
        f"{plural(progress['corrected'], 'label')} corrected\n"
        f"Write them into a copy of the file: spmld correct {source.command(str(session.store.path), '-o', 'FILE')}"
    )
    session.release()


def _export(
    queue: Any, samples: TableSamples, outcomes: dict[Place, str], path: str, image: str | None, source: Source
) -> None:
    count = export_entries(queue, samples, path, outcomes, image)
    if path.lower().endswith(".jsonl"):
        print_message(f"{path}: {plural(count, 'entry')}; fill in answer with present, absent or unsure")
        annotated = path
    else:
        config = Path(path).with_suffix(".xml")
        print_message(f"{path}: {plural(count, 'task')} for Label Studio; paste {config} into its labeling interface")
        annotated = "EXPORT.json"
    command = source.command(annotated, "-o", "FILE")
    print_message(f"next: spmld correct {command} writes the answers into a copy of the file")


@click.command()
@options.source_options("data", trusted=True)
@click.argument("annotations")
@click.option("-o", "--out", required=True, metavar="FILE", help="File to write, in the format of DATA.")
@options.json_option
@options.force_option
def correct(data: Source, annotations: str, out: str, as_json: bool, force: bool) -> None:
    """Write ANNOTATIONS into a copy of DATA, a table.

    ANNOTATIONS is the SQLite file of `spmld review`, a table with an annotation in each row (.csv, .jsonl, .parquet), a
    list of `spmld complete`, or an export of Label Studio. Pass the options of the review. If reviewers disagree, those
    with lower error rates decide, or the majority if that is not certain, and a tie changes nothing. Only the fields of
    decided labels change: a label column, or the list of --tags, to which a tag is added or from which it is removed.
    All other bytes of a CSV file or of JSON lines, all other cells of a workbook, and all other values of a Parquet
    file stay the same.

    The decided entries are written to a second file, FILE with .trusted.csv. Pass it to `spmld review` with --trusted,
    so that they are not shown again. If DATA has trusted entries already, pass them with --trusted to keep them.

    \b
    Examples:
      spmld correct songs.csv songs.review.sqlite -o reviewed.csv --tags tags --id song_id --text review
    """
    check_extension(out, data.path, data.table_kind or "other")
    trusted_path = str(without_gz(out).with_suffix(".trusted.csv"))
    for path in (out, trusted_path):
        check_output_path(path, force)
    dataset = data.load()
    table = open_editable(data, dataset.X.shape[0])
    form = label_form(table, dataset.roles, dataset.label_names, dataset.Y)
    id = None if dataset.roles is None else dataset.roles.id
    answers = read_answers(annotations, id)
    applied = apply_annotations(table, answers, form, id)
    unmatched = ""
    if applied.unmatched:
        unmatched = describe_unmatched(applied.unmatched, len(answers), annotations, data, form.names)
    if len(applied.unmatched) == len(answers):
        raise ValueError(
            f"{unmatched}; pass the file and the options of the review; without --id, columns that are not labels must "
            "not have changed"
        )
    mask = applied.trusted if dataset.trusted is None else applied.trusted | np.asarray(dataset.trusted)
    with writing(out) as part:
        part.write_bytes(applied.content)
    summary: dict[str, Any] = {"file": out}
    if dataset.trusted is not None or any(answer.confidence is None for answer in answers):
        _write_trusted(trusted_path, mask, form.names, table, id)
        summary |= {"trusted": trusted_path, "trusted_entries": int(mask.sum())}
    summary |= {item.name: getattr(applied, item.name) for item in fields(Applied) if item.type is int}
    summary["unmatched"] = len(applied.unmatched)
    if as_json:
        print_json(summary)
    else:
        lines = _describe(summary, _tag_reasons(form) if isinstance(form, TagColumn) else {})
        print_message("\n".join([*lines, unmatched] if unmatched else lines))
        command = replace(data, path=out).command("-o", "MODEL")
        print_message(f"next: spmld fit {command} fits a model on the new labels")


def _write_trusted(path: str, mask: Any, label_names: list[str], table: EditableTable, id: str | None) -> None:
    """Write the trusted entries for the option ``--trusted``, with identifiers if these are unique."""
    rows = mask.astype(int).tolist()
    names = [] if id is None else [to_text(name) for name in table.column(id)]
    if id is not None and id not in label_names and len(set(map(identifier_text, names))) == len(names):
        label_names = [id, *label_names]
        rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
    with writing(path) as part:
        part.write_text(TextTable(label_names, rows).to_csv(), encoding="utf-8", newline="")


def _tag_reasons(tags: TagColumn) -> dict[str, str]:
    """Return why annotations are not in a column of tags, and why other entries have changed."""
    if tags.untagged == "negative":
        unwritten = (
            f"absent, but not written, because the field {tags.column!r} is empty, which means missing labels; decide "
            "all tags of these samples, or pass --empty-is negative"
        )
    else:
        unwritten = f"absent, which cannot be written, since tags that are not in {tags.column!r} count as missing"
    implied = f"negative instead of missing, because the field {tags.column!r} was empty and has a tag now"
    return {"unwritten": unwritten, "implied": implied}


def _describe(summary: dict[str, Any], tag_reasons: dict[str, str]) -> list[str]:
    lines = [
        f"{summary['file']}: {plural(summary['changed'], 'label')} changed, {summary['added']} added, "
        f"{summary['confirmed']} confirmed"
    ]
    if "trusted" in summary:
        trusted = plural(summary["trusted_entries"], "trusted entry")
        lines.append(f"{summary['trusted']}: {trusted}; with spmld review --trusted they are not shown again")
    else:
        lines.append("the labels are predictions of a model, which no person has verified")
    reasons = {
        "unsure": "left as they are, reviewers are unsure",
        "conflicts": "left as they are, reviewers disagree; another annotation resolves them",
        **tag_reasons,
    }
    lines += [f"{plural(summary[name], 'entry')}: {reason}" for name, reason in reasons.items() if summary[name]]
    return lines
