"""The public names, once: the API page is made from this list, and a test holds it against the modules."""

PUBLIC = {
    "spmld": (
        "Estimators, and model files",
        "SelfPacedEnsemble SPMLD GLOCAL SelfPacedClassifier MaskedLogistic MaskedRidge PerLabelClassifier "
        "LEML MLLRC MLkNN LabelPrior "
        "save load model_info ModelInfo export_onnx export_npz",
    ),
    "spmld.estimators": ("What estimators share", "MultiLabelEstimator Completion"),
    "spmld.labels": (
        "Labels with gaps",
        "read_labels Labels observed decode_missing hide_labels corrupt_labels",
    ),
    "spmld.pacing": (
        "Rules and schedules of self-paced weights",
        "PacingRule HardPacing LinearPacing LogarithmicPacing GroupSparsePacing DiversePacing "
        "QuantileSchedule GeometricSchedule FixedSchedule PacingParameters ColumnGroups EntryGroups",
    ),
    "spmld.metrics": (
        "Metrics that skip what was not observed",
        "evaluate Evaluation scorer Scorer METRICS Metric get_metric "
        "ranking_loss coverage one_error sample_auc macro_auc micro_auc label_ranking_average_precision "
        "macro_average_precision micro_average_precision precision_at_k recall_at_k ndcg_at_k "
        "propensity_scored_precision_at_k propensities "
        "hamming_loss subset_accuracy sample_f1 macro_f1 micro_f1 log_loss brier_score reliability_curve",
    ),
    "spmld.model_selection": (
        "Splits, thresholds, calibration, search and comparison",
        "MultilabelStratifiedKFold RepeatedMultilabelStratifiedKFold MultilabelStratifiedShuffleSplit "
        "train_validation_test_split EntryKFold hold_out_entries "
        "ThresholdClassifier CalibratedClassifier tune SearchResult SearchTrial compare Comparison",
    ),
    "spmld.audit": ("Labels that are likely to be wrong", "find_label_issues LabelIssues"),
    "spmld.datasets": (
        "Data",
        "make_planted Dataset read_dataset write_dataset load_dataset read_columns from_frame describe Description "
        "list_datasets dataset_info DatasetInfo RemoteFile fetch_dataset fetch_files find_file join_split "
        "read_csv write_csv read_parquet write_parquet read_arff write_arff read_libsvm write_libsvm write_xc "
        "read_mat read_npz write_npz read_openml",
    ),
    "spmld.persistence": ("Parts of model files", "ModelFileError linear_predictor Linear"),
    "spmld.plotting": (
        "Plots",
        "PacingDisplay ObjectiveDisplay CorrelationDisplay ReliabilityDisplay RadarDisplay SurfaceDisplay "
        "CriticalDifferenceDisplay",
    ),
    "spmld.reports": ("Pages", "model_report comparison_report study_report"),
    "spmld.studies": (
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
