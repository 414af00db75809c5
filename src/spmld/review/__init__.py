"""Review of labels by people: queue, annotations, a page in the browser, and exchange with other programs."""

from spmld.review.annotations import Annotation, AnnotationStore, resolve
from spmld.review.applying import Applied, apply_annotations
from spmld.review.evidence import Evidence
from spmld.review.exchange import export_entries, read_annotations
from spmld.review.label_forms import LabelFields, TagColumn, label_columns
from spmld.review.queue import ReviewEntry, ReviewQueue, make_queue, sample_queue, update_issues
from spmld.review.samples import ArraySamples, TableSamples
from spmld.review.server import ReviewServer
from spmld.review.session import ReviewSession
from spmld.review.tables import open_table
from spmld.review.text_tables import CsvTable

__all__ = [
    "Annotation",
    "AnnotationStore",
    "Applied",
    "ArraySamples",
    "CsvTable",
    "Evidence",
    "LabelFields",
    "ReviewEntry",
    "ReviewQueue",
    "ReviewServer",
    "ReviewSession",
    "TableSamples",
    "TagColumn",
    "apply_annotations",
    "export_entries",
    "label_columns",
    "make_queue",
    "open_table",
    "read_annotations",
    "resolve",
    "sample_queue",
    "update_issues",
]
