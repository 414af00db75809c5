"""Limits on sizes that a file states in a few bytes."""


def check_sizes(n_samples: int, n_features: int, n_labels: int, n_bytes: int) -> None:
    """Raise ValueError if a file is too short for the data set that it describes.

    Features without values and labels without positives take memory but no space in a sparse file. Such a file of any
    size may have a million features, labels and entries of Y. Beyond that, it needs a byte for each feature and each
    label, and for 100 entries of Y.

    Examples
    --------
    >>> from spmld.datasets.sizes import check_sizes
    >>> check_sizes(1, 10**9, 1, n_bytes=30)
    Traceback (most recent call last):
    ValueError: 1000000000 features are too many for a file of 30 bytes, expected at most 1000030
    """
    for size, limit, noun in (
        (n_features, 10**6 + n_bytes, "features"),
        (n_labels, 10**6 + n_bytes, "labels"),
        (n_samples * n_labels, 10**6 + 100 * n_bytes, "entries of Y"),
    ):
        if size > limit:
            raise ValueError(f"{size} {noun} are too many for a file of {n_bytes} bytes, expected at most {limit}")
