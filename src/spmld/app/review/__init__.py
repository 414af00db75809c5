"""Review of labels by people: queue, annotations, a page in the browser, and exchange with other programs."""

from spmld.app.review.annotations import Annotation
from spmld.app.review.applying import TagColumn, apply_annotations
from spmld.app.review.editable_tables import open_table
from spmld.app.review.exchange import export_entries, read_annotations
from spmld.app.review.queue import make_queue, sample_queue
from spmld.app.review.server import ReviewServer
from spmld.app.review.session import ReviewSession
from spmld.app.review.store import AnnotationStore

__all__ = [
    "Annotation",
    "AnnotationStore",
    "ReviewServer",
    "ReviewSession",
    "TagColumn",
    "apply_annotations",
    "export_entries",
    "make_queue",
    "open_table",
    "read_annotations",
    "sample_queue",
]
