"""Seeds of all file formats, and random mutations of their bytes."""

import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import spmld
from spmld.datasets import Dataset, write_dataset
from tests.datasets.text_files import arff_text, write_libsvm

TOKENS = [b"", b"\0", b"-1", b"1e999", b"nan", b"999999999999", b"'", b'"', b",", b"{", b"}", b"%", b"@data\n", b"\n"]
TOKENS += [b"?", b":", b"\xff\xfe", b"[" * 500, b"," * 500, b"{1 2}", b"<!ENTITY", b"=1+1", b"\r", b"\t", b"2147483648"]

DECISION = '{"key": "a1", "label": "sad", "answer": "present", "reviewer": "ann", "time": "2026-01-01T00:00:00+00:00"}'
CHOICE = '{"from_name": "annotation", "to_name": "text", "type": "choices", "value": {"choices": ["present"]}}'
ANNOTATION = f'{{"completed_by": {{"email": "ann"}}, "updated_at": "2026-01-01T00:00:00Z", "result": [{CHOICE}]}}'
TEXTS = {
    "lines.annotations.jsonl": f"{DECISION}\n{DECISION}\n",
    "tasks.annotations.json": f'[{{"data": {{"key": "a1", "label": "sad"}}, "annotations": [{ANNOTATION}]}}]',
}
"""Files of annotations."""


def _data(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4)) * (rng.random((12, 4)) < 0.6)
    X[:, -1] += 1
    Y = np.where(rng.random((12, 3)) < 0.5, 1, 0)
    Y[0], Y[1] = 1, 0
    return Dataset(sp.csr_array(X) if sparse else X, Y, name="seed")


@cache
def seeds():
    """Return the content of a valid file for each kind, by a name with the extension."""
    contents = {}
    with tempfile.TemporaryDirectory() as folder:
        for sparse in (False, True):
            data, name = _data(sparse), "sparse" if sparse else "dense"
            for extension in ("csv", "npz", "parquet", "tsv"):
                write_dataset(data, Path(folder, f"{name}.{extension}"))
            Path(folder, f"{name}.arff").write_text(arff_text(data))
            for extension in ("svm", "txt"):
                write_libsvm(data.X, data.Y, Path(folder, f"{name}.{extension}"), sizes=extension == "txt")
        contents |= {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        frame = spmld.datasets.frames.to_frame(_data(False))
        frame.to_excel(Path(folder, "table.xlsx"), index=False)
        frame.to_json(Path(folder, "table.jsonl"), orient="records", lines=True)
        kernel = spmld.SelfPacedEnsemble(views=("kernel",), n_landmarks=2, random_state=0)  # contains sparse arrays
        for name, data, model in (
            ("dense.skops", _data(False), spmld.MaskedLogistic()),
            ("sparse.skops", _data(True), kernel),
        ):
            spmld.save(model.fit(data.X, data.Y), Path(folder, name))
        tags = frame.drop(columns=[name for name in frame if name.startswith("label_")])
        tags["tags"] = ["calm; sad", "sad", "", "loud"] * 3
        tags.to_csv(Path(folder, "table.tags.csv"), index=False)
        for name in ("table.tags.csv", "table.xlsx", "table.jsonl", "dense.skops", "sparse.skops"):
            contents[name] = Path(folder, name).read_bytes()
    return contents | {name: text.encode() for name, text in TEXTS.items()}


def mutate(rng, content, n_changes):
    """Return bytes with some parts changed, deleted, repeated, or replaced by tokens."""
    content = bytearray(content)
    for _ in range(n_changes):
        start = int(rng.integers(len(content) + 1))
        stop = min(len(content), start + int(rng.choice([0, 1, 1, 1, 2, 8, 64])))
        kind = rng.integers(5)
        if kind == 0 and start < len(content):
            content[start] = int(rng.integers(256))
        elif kind == 1:
            content[start:stop] = b""
        elif kind == 2:
            content[start:stop] = content[start:stop] * int(rng.integers(2, 50))
        elif kind == 3:
            content[start:stop] = TOKENS[rng.integers(len(TOKENS))]
        elif rng.random() < 0.1:
            del content[start:]
    return bytes(content)


def mutate_member(content, change, choose):
    """Return a zip archive with one member changed; its checksums are correct.

    `choose` returns the index of the member to change, given the number of members.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(buffer, "w") as changed:
        names = archive.namelist()
        chosen = names[choose(len(names))]
        for name in names:
            member = archive.read(name)
            changed.writestr(name, change(member) if name == chosen else member)
    return buffer.getvalue()


def make_case(seed, index):
    """Return the name and the content of a mutated file."""
    rng = np.random.default_rng([seed, index])
    names = sorted(seeds())
    name = names[index % len(names)]
    content, n_changes = seeds()[name], int(rng.choice([1, 1, 2, 5, 20]))
    if content[:2] == b"PK" and rng.random() < 0.8:
        return name, mutate_member(content, lambda member: mutate(rng, member, n_changes), rng.integers)
    return name, mutate(rng, content, n_changes)
