"""Review of labels by people: queue, decisions, a page in the browser, and exchange with other programs."""

from spmld.review.applying import Applied, apply_decisions, trusted_csv
from spmld.review.decisions import Decision, resolve
from spmld.review.evidence import Evidence
from spmld.review.excel_table import ExcelTable
from spmld.review.exchange import entry_records, label_config, read_decisions, write_jsonl, write_tasks
from spmld.review.gain import expected_gain, rank_samples, true_probability
from spmld.review.label_forms import LabelFields, TagColumn, label_columns
from spmld.review.queue import ReviewEntry, ReviewQueue, make_queue, sample_queue
from spmld.review.samples import ArraySamples, TableSamples, sample_keys
from spmld.review.server import ReviewServer
from spmld.review.session import ReviewSession
from spmld.review.store import DecisionStore
from spmld.review.table_file import TableFile
from spmld.review.tables import open_table
from spmld.review.typed_tables import JsonLines, ParquetTable
from spmld.review.updating import update_issues

__all__ = [
    "Applied",
    "ArraySamples",
    "Decision",
    "DecisionStore",
    "Evidence",
    "ExcelTable",
    "JsonLines",
    "LabelFields",
    "ParquetTable",
    "ReviewEntry",
    "ReviewQueue",
    "ReviewServer",
    "ReviewSession",
    "TableFile",
    "TableSamples",
    "TagColumn",
    "apply_decisions",
    "entry_records",
    "expected_gain",
    "label_columns",
    "label_config",
    "make_queue",
    "open_table",
    "rank_samples",
    "read_decisions",
    "resolve",
    "sample_keys",
    "sample_queue",
    "true_probability",
    "trusted_csv",
    "update_issues",
    "write_jsonl",
    "write_tasks",
]
