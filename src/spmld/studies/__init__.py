"""Studies: comparisons of methods under one protocol, and tables and figures from their records."""

from spmld.studies.config import Condition, Corruption, Method, Study
from spmld.studies.loading import find_study, load_study, parse_study, shipped_studies
from spmld.studies.records import RecordError, Records, RecordWriter, read_records
from spmld.studies.runner import Outcome, run_study
from spmld.studies.schema import StudyError
from spmld.studies.trial import Trial, run

__all__ = [
    "Condition",
    "Corruption",
    "Method",
    "Outcome",
    "RecordError",
    "RecordWriter",
    "Records",
    "Study",
    "StudyError",
    "Trial",
    "find_study",
    "load_study",
    "parse_study",
    "read_records",
    "run",
    "run_study",
    "shipped_studies",
]
