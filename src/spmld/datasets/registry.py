"""Public data sets: what they are, where they come from and how to know that a file is the right one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DatasetInfo", "RemoteFile", "dataset_info", "list_datasets"]


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set.

    Attributes
    ----------
    address : str
        Where to download it.
    sha256 : str or None
        Its checksum. None: not recorded here, so that a download is used as it comes.

    Examples
    --------
    >>> from spmld.datasets import dataset_info
    >>> dataset_info("business").files[0].name
    'Business.mat'
    """

    address: str
    sha256: str | None

    @property
    def name(self) -> str:
        """Last part of the address."""
        return self.address.rpartition("/")[2]


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set without reading it.

    Attributes
    ----------
    name : str
        What `fetch_dataset` calls it.
    task : str
        What is labelled with what.
    n_train, n_test, n_features, n_labels : int
        Size, in the official split.
    files : tuple of RemoteFile
        One MATLAB file; or ARFF files for training and test, and the XML file that names the labels.
    licence : str
        What is known of the licence.
    citation : str
        What to cite.

    Examples
    --------
    >>> from spmld.datasets import dataset_info
    >>> info = dataset_info("emotions")
    >>> info.n_samples, info.n_features, info.n_labels
    (593, 72, 6)
    """

    name: str
    task: str
    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    files: tuple[RemoteFile, ...]
    licence: str
    citation: str

    @property
    def n_samples(self) -> int:
        """Training and test samples together."""
        return self.n_train + self.n_test


def list_datasets() -> list[DatasetInfo]:
    """All data sets of the registry, the paper's first.

    Examples
    --------
    >>> from spmld.datasets import list_datasets
    >>> [info.name for info in list_datasets()][:7]
    ['business', 'computers', 'corel5k', 'education', 'health', 'science', 'social']
    """
    return list(_REGISTRY.values())


def dataset_info(name: str) -> DatasetInfo:
    """The entry of one data set; case does not matter.

    Examples
    --------
    >>> from spmld.datasets import dataset_info
    >>> dataset_info("Yeast").n_labels
    14
    """
    try:
        return _REGISTRY[name.lower()]
    except KeyError:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(_REGISTRY)}") from None


_SPLIT_OF_THE_PAPER = (
    "Split: Seyedi, Ghodsi, Akhlaghian, Jalili, Moradi. Self-Paced Multi-Label Learning with Diversity. ACML 2019"
)
_PAPER_LICENCE = (
    "none stated in the repository amjadseyedi/SPMLD, which holds the file; ask its authors before sharing it"
)
_MULAN_LICENCE = "none stated for the data in the repository tsoumakas/mulan, which holds them; cite the source"
_DUYGULU = (
    "Duygulu, Barnard, de Freitas, Forsyth. Object Recognition as Machine Translation: Learning a Lexicon for a Fixed "
    "Image Vocabulary. ECCV 2002"
)
_UEDA = "Ueda, Saito. Parametric Mixture Models for Multi-Labeled Text. NIPS 2002"
_YAHOO = "web pages of Yahoo's directory with their subcategories of {}"

# Name, features, labels, path and commit in the authors' repository, and SHA-256; all have 3000 and 2000 samples.
_PAPER = [
    ("business", 438, 30, "dt/Business.mat", "60d1aedd72e9eb34e62c85eeb7787ef859cf8980",
     "58c640829b9a5225461a756ae08115202cff53a579a7bba89d306babcbc1f79c"),
    ("computers", 681, 33, "dt/Computers.mat", "adfae1ef7b697f1651b0920937ba5fc8ddcbacad",
     "ca4f968ebd57b18c2438e80e2fab8a228ba4538315cf6647caa5308063f680f1"),
    ("corel5k", 499, 374, "dt/Corel5k.mat", "adfae1ef7b697f1651b0920937ba5fc8ddcbacad",
     "508aa212c8b4f964db804914f38e912d53ca0f4c6b01afa94660f42d7565afdb"),
    ("education", 550, 33, "dt/Education.mat", "adfae1ef7b697f1651b0920937ba5fc8ddcbacad",
     "62776a7a6cf8918fef51c50c2e9e45c032edc0185095e096bc329694e4d40837"),
    ("health", 612, 32, "dt/Health.mat", "adfae1ef7b697f1651b0920937ba5fc8ddcbacad",
     "f7f414fa3e1e480bb307f25d96d806fefa83fb0668704bc81657f135ddc49f45"),
    ("science", 743, 40, "science.mat", "93f2a4139d9b1f36ad9af00829a18d01b59500ba",
     "30eeb153ee6851f6ac8288e39b7c59f586c37b95256fa32425327324b46ec82b"),
    ("social", 1047, 39, "dt/Social.mat", "60d1aedd72e9eb34e62c85eeb7787ef859cf8980",
     "1048217edaf1a6c87216423fa115f97dee40dc06e6af2611905d97dbb66ff633"),
]  # fmt: skip

# Name, task, size, files with SHA-256, and citation. Where it is None the file was not at hand when this was written.
_MULAN: list[tuple[str, str, int, int, int, int, dict[str, str | None], str]] = [
    (
        "emotions", "songs with the moods they raise", 391, 202, 72, 6,
        {
            "emotions/emotions-train.arff": "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98",
            "emotions/emotions-test.arff": "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f",
            "emotions/emotions.xml": "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
        },
        "Trohidis, Tsoumakas, Kalliris, Vlahavas. Multilabel Classification of Music into Emotions. ISMIR 2008",
    ),
    (
        "scene", "photographs with the scenes they show", 1211, 1196, 294, 6,
        {
            "scene/scene-train.arff": "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
            "scene/scene-test.arff": "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
            "scene/scene.xml": "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
        },
        "Boutell, Luo, Shen, Brown. Learning Multi-Label Scene Classification. Pattern Recognition 37, 2004",
    ),
    (
        "yeast", "yeast genes with their functional classes", 1500, 917, 103, 14,
        {"yeast/yeast-train.arff": None, "yeast/yeast-test.arff": None, "yeast/yeast.xml": None},
        "Elisseeff, Weston. A Kernel Method for Multi-Labelled Classification. NIPS 2001",
    ),
    (
        "enron", "e-mails with their topics", 1123, 579, 1001, 53,
        {
            "enron/enron-train.arff": "2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194",
            "enron/enron-test.arff": "2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e",
            "enron/enron.xml": "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
        },
        "Klimt, Yang. The Enron Corpus: A New Dataset for Email Classification Research. ECML 2004",
    ),
    (
        "medical", "radiology reports with their diagnosis codes", 333, 645, 1449, 45,
        {
            "medical/medical-train.arff": "c764f45756ab1c553b8b4eaaf5605a5610a43bbbcf37492d0f1a12bf9c9e2244",
            "medical/medical-test.arff": "6be472e75a6c0b0916187f343a398011b1b26f8f0ddc682c575312ad3532f6c4",
            "medical/medical.xml": "51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce",
        },
        "Pestian et al. A Shared Task Involving Multi-Label Classification of Clinical Free Text. BioNLP 2007",
    ),
    (
        "bibtex", "bibliographic entries with the tags of their readers", 4880, 2515, 1836, 159,
        {"bibtex/bibtex-train.arff": None, "bibtex/bibtex-test.arff": None, "bibtex/bibtex.xml": None},
        "Katakis, Tsoumakas, Vlahavas. Multilabel Text Classification for Automated Tag Suggestion. ECML/PKDD 2008 "
        "Discovery Challenge",
    ),
    (
        "corel5k-mulan", "photographs with keywords, in MULAN's split", 4500, 500, 499, 374,
        {
            "corel5k/Corel5k-train-sparse.arff": "19eb253c447144bea74ffa86b4731a56022addae2ba7d0aab72ad07fdc02e9b3",
            "corel5k/Corel5k-test-sparse.arff": "e8f8e9cd052c43ba7bdfdf99d242f461fc8c2a03163466d921e576887b51d8a7",
            "corel5k/Corel5k.xml": "54ef6a6ccb7ca9b77524052b34b306d5d501661a5609b9d1cc7085b2b597679d",
        },
        _DUYGULU,
    ),
]  # fmt: skip


def _build() -> dict[str, DatasetInfo]:
    entries = []
    for name, d, l, path, commit, sha256 in _PAPER:
        images = name == "corel5k"
        task = "photographs with keywords, in the paper's split" if images else _YAHOO.format(name.capitalize())
        file = RemoteFile(f"https://raw.githubusercontent.com/amjadseyedi/SPMLD/{commit}/{path}", sha256)
        citation = f"{_DUYGULU if images else _UEDA}. {_SPLIT_OF_THE_PAPER}"
        entries.append(DatasetInfo(name, task, 3000, 2000, d, l, (file,), _PAPER_LICENCE, citation))
    root = "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label/"
    for name, task, n_train, n_test, d, l, paths, citation in _MULAN:
        files = tuple(RemoteFile(root + path, sha256) for path, sha256 in paths.items())
        entries.append(DatasetInfo(name, task, n_train, n_test, d, l, files, _MULAN_LICENCE, citation))
    return {entry.name: entry for entry in entries}


_REGISTRY = _build()
