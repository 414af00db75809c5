"""Review of labels by people: queue, annotations, a page in the browser, and exchange with other programs."""

from spmld.review.annotations import Annotation
from spmld.review.applying import apply_annotations
from spmld.review.exchange import export_entries, read_annotations
from spmld.review.label_forms import TagColumn
from spmld.review.queue import make_queue, sample_queue
from spmld.review.server import ReviewServer
from spmld.review.session import ReviewSession
from spmld.review.store import AnnotationStore
from spmld.review.tables import open_table

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
