"""Public data sets: sizes, statistics published in the literature, and round trips through every format."""

import pytest

from spmld.datasets import describe, list_datasets, read_dataset
from spmld.datasets.registry import checksum, find_file

# Cardinality, density and number of label sets in the table of MULAN's data sets.
PUBLISHED = {
    "emotions": (1.869, 0.311, 27),
    "scene": (1.074, 0.179, 15),
    "enron": (3.378, 0.064, 753),
    "medical": (1.245, 0.028, 94),
    "corel5k-mulan": (3.522, 0.009, 3175),
}


@pytest.mark.parametrize("info", list_datasets(), ids=lambda info: info.name)
def test_files_have_the_recorded_checksums(info):
    try:
        paths = [find_file(address.rpartition("/")[2]) for address in info.files]
    except FileNotFoundError as error:
        pytest.skip(f"real data: {error}")
    assert [checksum(path) for path in paths] == list(info.files.values())


@pytest.mark.parametrize("name", PUBLISHED)
def test_statistics_agree_with_the_literature(name, load):
    description = describe(load(name))
    cardinality, density, label_sets = PUBLISHED[name]
    assert description.cardinality == pytest.approx(cardinality, abs=6e-4)
    assert description.density == pytest.approx(density, abs=6e-4)
    assert description.label_sets == label_sets


def test_the_outdated_header_of_medical_raises(load, tmp_path):
    load("medical")
    (tmp_path / "medical.arff").write_bytes(find_file("medical-train.arff").read_bytes())
    with pytest.raises(ValueError, match="has -C 45, but attributes were moved or removed"):
        read_dataset(tmp_path / "medical.arff")


@pytest.mark.parametrize(
    ("name", "fraction"),
    [("emotions-train.arff", 0.2), ("emotions-train.arff", 0.999), ("enron-train.arff", 0.6)],
)
def test_truncated_files_raise(name, fraction, tmp_path):
    try:
        content = find_file(name).read_bytes()
        xml = find_file(name.replace("-train.arff", ".xml"))
    except FileNotFoundError as error:
        pytest.skip(f"real data: {error}")
    (tmp_path / name).write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(ValueError, match=f"{name} cannot be read"):
        read_dataset(tmp_path / name, xml=xml)
