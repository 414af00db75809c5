"""Studies: many fits under one protocol, recorded so that tables and figures can be made again without refitting."""

from spmld.studies.config import (
    Corruption,
    Method,
    Study,
    find_study,
    load_study,
    parse_study,
    shipped_studies,
)
from spmld.studies.records import RecordError, Records, RecordWriter, read_records
from spmld.studies.runner import Outcome, run_study
from spmld.studies.strict import StudyError
from spmld.studies.trial import Trial, run

__all__ = [
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
