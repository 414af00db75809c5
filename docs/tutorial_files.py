"""Generated files of the tutorials.

``python tutorial_files.py repairs``, ``pictures`` or ``songs`` writes a file with missing and wrong labels,
``test.csv`` with correct labels, and ``new.csv`` without labels. ``truth.csv`` has the correct labels of all samples.

``python tutorial_files.py answer entries.jsonl answers.jsonl 100`` stands in for a reviewer: it answers the first 100
entries of an exported review by looking up ``truth.csv``.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

PARTS = {
    "brakes": ("squeaks when I stop", "hard to stop in the rain", "the lever comes back to the handle"),
    "chain": ("slips under load", "grinds when I pedal", "jumps between gears"),
    "lights": ("dark at night", "the front lamp flickers", "nothing shines at the back"),
    "wheel": ("wobbles at speed", "went over a curb", "a spoke is loose"),
    "battery": ("range is half of what it was", "switches off uphill", "will not charge"),
}
REMARKS = ("please call me first", "needed by Friday", "bought here", "as last year", "my daughter rides it")
SHAPES = ("circle", "square", "triangle")
COLORS = {"red": (0.85, 0.2, 0.15), "green": (0.1, 0.6, 0.3), "blue": (0.15, 0.35, 0.8)}
SIZE = 96


def write(path, columns, sep=","):
    """Write a table."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=sep, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def select(columns, rows):
    """Return some of the rows."""
    return {name: values[rows] for name, values in columns.items()}


def as_columns(names, values):
    """Return a column for each label."""
    return dict(zip(names, np.transpose(values), strict=True))


def flip_and_hide(truth, wrong, missing, words, rng):
    """Return labels as text, a fraction of them wrong, and another fraction empty."""
    given = truth ^ (rng.random(truth.shape) < wrong)
    return np.where(rng.random(truth.shape) < missing, "", np.where(given, *words))


def make_repairs(n, rng):
    """Return the columns of a table of bicycle repairs, and the parts that each bicycle needs."""
    kinds = rng.choice(["city", "e-bike", "racing", "cargo"], n, p=[0.45, 0.3, 0.15, 0.1])
    electric, km, volts = kinds == "e-bike", rng.gamma(2, 1500, n), rng.normal(36, 2, n)
    days = np.datetime64("2023-01-02") + rng.integers(0, 700, n)
    winter = np.cos((days - days.min()).astype(int) / 365 * 2 * np.pi)
    weak = np.where(electric, 1.2 * (35 - volts), -9.0)
    wear = np.transpose([km / 2000 - 2.2, km / 1500 - 2.6, winter - 1, (kinds == "cargo") - 1.4, weak])
    needs = rng.logistic(0, 0.6, (n, 5)) < wear
    complaints = []
    for row in needs & (rng.random(needs.shape) < 0.85):
        phrases = [rng.choice(PARTS[part]) for part in np.array([*PARTS])[row]]
        complaints.append(", ".join(rng.permutation([rng.choice(REMARKS), *phrases])))

    def number(values, gaps):
        texts = [f"{value:.1f}".replace(".", ",") for value in values]
        return np.where(rng.random(n) < gaps, "", texts)

    columns = {
        "ticket": np.array([f"R{number}" for number in rng.permutation(9000)[:n] + 1000]),
        "received": np.array([day.item().strftime("%d.%m.%Y") for day in days]),
        "bicycle": np.where(rng.random(n) < 0.05, "", kinds),
        "km": number(km, 0.15),
        "volts": np.where(electric, number(volts, 0.1), ""),
        "complaint": np.array(complaints),
    }
    return columns, needs


def repairs():
    """Write a messy table: semicolons, decimal commas, dates with the day first, gaps, yes, no and empty labels."""
    rng = np.random.default_rng(0)
    columns, needs = make_repairs(1000, rng)
    names, words = [f"needs_{part}" for part in PARTS], ("yes", "no")
    train, test, new = slice(0, 700), slice(700, 950), slice(950, None)
    given = as_columns(names, flip_and_hide(needs[train], 0.05, 0.25, words, rng))
    correct = as_columns(names, np.where(needs, *words))
    write("repairs.csv", {**select(columns, train), **given}, ";")
    write("test.csv", {**select(columns, test), **select(correct, test)}, ";")
    write("new.csv", select(columns, new), ";")
    write("truth.csv", {"id": columns["ticket"], **as_columns(PARTS, needs.astype(int))})


def draw(shapes, colors, rng):
    """Return a picture with some shapes in some colors."""
    y, x = np.mgrid[:SIZE, :SIZE]
    picture = np.full((SIZE, SIZE, 3), 0.95)
    for shape, color in zip(shapes, colors, strict=True):
        radius = rng.uniform(16, 26)
        center = rng.uniform(radius, SIZE - radius, 2)
        u, v = (x - center[0]) / radius, (y - center[1]) / radius
        inside = {
            "circle": u**2 + v**2 < 1,
            "square": np.maximum(abs(u), abs(v)) < 0.85,
            "triangle": (v < 0.75) & (v > 1.75 * abs(u) - 1),
        }[shape]
        picture[inside] = COLORS[color]
    return np.clip(picture + rng.normal(0, 0.03, picture.shape), 0, 1)


def pictures():
    """Write a folder of pictures, and a table with the names of the files and with labels."""
    from matplotlib.image import imsave

    rng = np.random.default_rng(0)
    Path("pictures").mkdir(exist_ok=True)
    files, truth = [f"pictures/{i:03d}.png" for i in range(1, 901)], []
    for file in files:
        number = rng.integers(1, 3)
        shapes, colors = rng.choice(SHAPES, number), rng.choice([*COLORS], number, replace=False)
        imsave(file, draw(shapes, colors, rng))
        truth.append([*(shape in shapes for shape in SHAPES), *(color in colors for color in COLORS)])
    files, truth, names = np.array(files), np.array(truth), [f"label_{name}" for name in (*SHAPES, *COLORS)]
    verified = np.arange(600) < 60
    given = flip_and_hide(truth[:600], 0.08, 0.3, (1, 0), rng)
    given[verified] = truth[:60].astype(int)
    write("pictures.csv", {"file": files[:600], "verified": verified.astype(int), **as_columns(names, given)})
    write("test.csv", {"file": files[600:850], **as_columns(names, truth[600:850].astype(int))})
    write("new.csv", {"file": files[850:]})
    write("truth.csv", {"id": files, **as_columns((*SHAPES, *COLORS), truth.astype(int))})


def songs():
    """Write a table of song reviews, with the tags of each song in one column."""
    from spmld.datasets import make_songs

    songs = make_songs(1300, 8, n_phrases=6, noise=0.2, wrong_fraction=0.15, random_state=0)
    tags = [["; ".join(np.array(songs.label_names)[row == 1]) for row in Y] for Y in (songs.Y, songs.Y_true)]
    columns = {"song_id": songs.sample_names, "review": songs.texts}
    for name, rows, labels in (("songs", slice(0, 900), tags[0]), ("test", slice(900, 1250), tags[1])):
        write(f"{name}.csv", {**select(columns, rows), "tags": labels[rows]})
    write("new.csv", select(columns, slice(1250, None)))
    write("truth.csv", {"id": songs.sample_names, **as_columns(songs.label_names, songs.Y_true)})


def answer(entries, target, number):
    """Answer the first entries of an exported review as a person who knows the correct labels."""
    with Path("truth.csv").open(encoding="utf-8", newline="") as file:
        truth = {row["id"]: row for row in csv.DictReader(file)}
    records = [json.loads(line) for line in Path(entries).read_text(encoding="utf-8").splitlines()[: int(number)]]
    for record in records:
        sample = next(iter(record["fields"].values()))
        record["answer"] = "present" if truth[sample][record["label"]] == "1" else "absent"
    Path(target).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    print(f"{target}: {len(records)} answers")


if __name__ == "__main__":
    {"repairs": repairs, "pictures": pictures, "songs": songs, "answer": answer}[sys.argv[1]](*sys.argv[2:])
