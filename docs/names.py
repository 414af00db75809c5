"""The public names, once: the API page is made from this list, and a test holds it against the modules."""

PUBLIC = {
    "spmld": (
        "Estimators, and model files",
        "SPMLDCV SPMLD GLOCAL SelfPacedClassifier MaskedLogistic MaskedRidge PerLabelClassifier "
        "LEML MLLRC MLkNN LabelPrior "
        "save load model_info ModelInfo export_onnx export_npz",
    ),
    "spmld.estimators": ("What estimators share", "MultiLabelEstimator Completion"),
    "spmld.labels": (
        "Labels with gaps",
        "read_labels Labels observed decode_missing hide_labels corrupt_labels",
    ),
    "spmld.pace": (
        "Rules and schedules of self-paced weights",
        "Pace HardPace LinearPace LogarithmicPace GroupSparsePace DiversePace ReleasedPace "
        "Quantile Geometric Fixed Age Columns Members",
    ),
    "spmld.metrics": (
        "Measures that skip what was not observed",
        "evaluate Evaluation scorer Scorer MEASURES Measure "
        "ranking_loss coverage one_error instance_auc macro_auc micro_auc label_ranking_average_precision "
        "macro_average_precision micro_average_precision precision_at_k recall_at_k ndcg_at_k "
        "propensity_scored_precision_at_k propensities "
        "hamming_loss subset_accuracy instance_f1 macro_f1 micro_f1 log_loss brier_score",
    ),
    "spmld.splits": (
        "Splits of rows and of entries",
        "MultilabelStratifiedKFold RepeatedMultilabelStratifiedKFold MultilabelStratifiedShuffleSplit "
        "train_validation_test_split EntryKFold hold_out_entries",
    ),
    "spmld.thresholds": ("Decisions and probabilities", "ThresholdClassifier CalibratedLabels"),
    "spmld.tune": ("Searches", "tune Tuning Trial"),
    "spmld.audit": ("Labels that are likely to be wrong", "find_label_issues LabelIssues"),
    "spmld.datasets": (
        "Data",
        "make_planted Dataset read_dataset write_dataset load_dataset read_columns from_frame describe Description "
        "list_datasets dataset_info DatasetInfo RemoteFile fetch_dataset fetch_files find_file join_split "
        "read_csv write_csv read_parquet write_parquet read_arff write_arff read_libsvm write_libsvm write_xc "
        "read_mat read_npz write_npz read_openml",
    ),
    "spmld.files": ("Parts of model files", "ModelFileError linear_predictor Linear"),
    "spmld.displays": (
        "Plots",
        "PaceDisplay ObjectiveDisplay CorrelationDisplay ReliabilityDisplay RadarDisplay SurfaceDisplay "
        "CriticalDifferenceDisplay",
    ),
    "spmld.reports": ("Pages", "model_report comparison_report study_report"),
    "spmld.experiment": (
        "Studies",
        "Study Method Corruption load_study parse_study find_study shipped_studies StudyError "
        "run_study Outcome Trial run read_records Records RecordWriter RecordError",
    ),
}
"""Module: what it is for, and its names in the order in which they are shown."""


def page() -> str:
    """The API page: a table for each module, with a page for each name."""
    parts = ["API", "===", "", "Every public name, by module. All are imported from the module they stand under.", ""]
    for module, (title, names) in PUBLIC.items():
        head = f"{title}: ``{module}``"
        parts += [head, "-" * len(head), "", f".. currentmodule:: {module}", "", ".. autosummary::"]
        parts += ["   :toctree: api", "   :nosignatures:", "", *(f"   {name}" for name in names.split()), ""]
    return "\n".join(parts)
