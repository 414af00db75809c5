"""Studies: many fits under one protocol, recorded so that tables and figures can be made again without refitting."""

from spmld.experiment.config import (
    Corruption,
    Method,
    Study,
    find_study,
    load_study,
    parse_study,
    shipped_studies,
)
from spmld.experiment.records import RecordError, Records, RecordWriter, read_records
from spmld.experiment.runner import Outcome, run_study
from spmld.experiment.strict import StudyError
from spmld.experiment.trial import Trial, run

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
