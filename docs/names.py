"""Public names of the API reference page. A test compares this list with the modules."""

PUBLIC = {
    "spmld": (
        "Estimators and model files",
        "SelfPacedEnsemble SPMLD GLOCAL SelfPacedClassifier HierarchicalClassifier MaskedLogistic MaskedRidge "
        "MaskedBoosting LabelBoosting MaskedForest PerLabelClassifier LEML MLLRC LabelPrior "
        "save load model_info ModelInfo export_onnx explain top_features",
    ),
    "spmld.estimators": (
        "Components of estimators",
        "ThresholdClassifier MultiLabelEstimator Completion FeatureScaler positive_unlabeled",
    ),
    "spmld.ensemble": ("Components of the ensemble", "View DependencyCorrection hierarchical_ensemble"),
    "spmld.labels": (
        "Labels with missing entries",
        "Hierarchy read_labels Labels LabelWarning read_tags decode_missing hide_labels corrupt_labels",
    ),
    "spmld.pacing": (
        "Self-paced weights",
        "PacingRule HardPacing LinearPacing LogarithmicPacing GroupSparsePacing DiversePacing "
        "exact_weights QuantileSchedule GeometricSchedule",
    ),
    "spmld.metrics": (
        "Metrics for partially observed labels",
        "evaluate Evaluation scorer "
        "ranking_loss coverage one_error sample_auc macro_auc micro_auc label_ranking_average_precision "
        "macro_average_precision micro_average_precision precision_at_k recall_at_k ndcg_at_k "
        "hamming_loss subset_accuracy sample_f1 macro_f1 micro_f1 hierarchical_f1 log_loss brier_score "
        "expected_calibration_error",
    ),
    "spmld.model_selection": (
        "Splitting, calibration, decisions and comparison",
        "MultilabelStratifiedKFold stratified_split hold_out_entries "
        "cross_val_predict cross_fit make_folds DecisionRule compare Comparison",
    ),
    "spmld.monitoring": (
        "Monitoring without labels",
        "monitor Monitoring Shifts estimate_frequencies make_reference Reference",
    ),
    "spmld.noise": (
        "Noise model",
        "estimate_noise identify_noise NoiseEstimate NoiseRates PooledCalibration",
    ),
    "spmld.annotators": (
        "Labels of several annotators",
        "read_annotators AnnotatorLabels fit_consensus find_consensus Consensus",
    ),
    "spmld.audit": ("Detection of label errors", "find_label_issues label_issues LabelIssues ErrorEstimate"),
    "spmld.datasets": (
        "Data sets",
        "make_songs make_planted Dataset read_dataset write_dataset load_dataset read_hierarchy from_frame describe "
        "list_datasets fetch_dataset",
    ),
    "spmld.tables": ("Tables", "TableEncoder TextEmbedder read_table TableRoles TableError TableWarning"),
    "spmld.export": ("Model files", "Checkpoint ModelFileError"),
    "spmld.inspection": ("Explanations", "Explanation TopFeatures"),
    "spmld.plotting": (
        "Display objects",
        "PacingDisplay CorrelationDisplay ReliabilityDisplay",
    ),
    "spmld.app.reports": ("HTML reports", "model_report monitoring_report"),
    "spmld.app.review": (
        "Review of labels by people",
        "make_queue sample_queue Annotation AnnotationStore read_annotations apply_annotations export_entries "
        "open_table TagColumn ReviewServer ReviewSession",
    ),
}
"""Title and names of each module, in the order of the page."""


def page() -> str:
    """Return the API reference page: one table per module, with links to one page per name."""
    parts = [
        "API reference",
        "=============",
        "",
        "This page lists all public classes and functions. Import each name from the module of its section.",
        "",
    ]
    for module, (title, names) in PUBLIC.items():
        if not names:  # all of them are listed in the first section
            continue
        head = f"{title}: ``{module}``"
        parts += [head, "-" * len(head), "", f".. currentmodule:: {module}", "", ".. autosummary::"]
        parts += ["   :toctree: api", "   :nosignatures:", "", *(f"   {name}" for name in names.split()), ""]
    return "\n".join(parts)
