"""Sixty messy files, six of each of ten kinds, with what they contain or why they cannot be read.

``python -m tests.tables.messy_files FOLDER`` writes them.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

N = 40
_RNG = np.random.default_rng(0)
PRICE = np.round(_RNG.uniform(2, 3000, N), 2)
DAYS = pd.Series(pd.to_datetime("2021-03-01") + pd.to_timedelta(_RNG.integers(0, 900, N), unit="D"))
FORMAT = _RNG.choice(["vinyl", "tape", "file"], N)
SAD, CALM = _RNG.random(N) < 0.5, _RNG.random(N) < 0.4
TAGS = ["folk", "jazz", "rock"]
TAGGED = np.array([[i % 2 == 0, i % 3 == 0, i % 4 < 2] for i in range(N)], dtype=float)
TAGGED[~TAGGED.any(axis=1), 0] = 1


@dataclass(frozen=True)
class MessyFile:
    """A file, options to read it, what it contains, and the notes or the error that its reader must give."""

    kind: str
    name: str
    write: Callable[[Path], Any]
    truth: pd.DataFrame
    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    error: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Kind and name."""
        return f"{self.kind}-{self.name}"


def truth(**columns: Any) -> pd.DataFrame:
    """Return the clean table, with other columns in the place of its own."""
    frame = pd.DataFrame({"price": PRICE, "released": DAYS, "format": FORMAT})
    return frame.assign(**{"label_sad": SAD * 1.0, "label_calm": CALM * 1.0, **columns})


def messy(**columns: Any) -> pd.DataFrame:
    """Return the clean table as text, with other columns in the place of its own."""
    return truth(**{"released": DAYS.dt.strftime("%Y-%m-%d"), **columns})


def csv(frame: pd.DataFrame, extension: str = "csv", **options: Any) -> Callable[[Path], Any]:
    """Return a function that writes a CSV file."""
    return lambda path: frame.to_csv(path.with_suffix(f".{extension}"), index=False, **options)


def excel(**sheets: pd.DataFrame) -> Callable[[Path], Any]:
    """Return a function that writes an Excel file."""

    def write(path: Path) -> None:
        with pd.ExcelWriter(path.with_suffix(".xlsx")) as book:
            for name, frame in sheets.items():
                frame.to_excel(book, sheet_name=name, index=False)

    return write


def jsonl(frame: pd.DataFrame) -> Callable[[Path], Any]:
    """Return a function that writes JSON lines."""
    lines = "\n".join(json.dumps(row) for row in frame.to_dict("records"))
    return lambda path: path.with_suffix(".jsonl").write_text(lines)


def text(content: str, **options: Any) -> Callable[[Path], Any]:
    """Return a function that writes a text file."""
    return lambda path: path.with_suffix(".csv").write_text(content, **options)


def german(values: Any, digits: int = 2) -> list[str]:
    """Return numbers with a comma for decimals and points for thousands."""
    return [f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,")) for value in values]


def encodings() -> list[MessyFile]:
    frame = messy(format=[f"größe {name}" for name in FORMAT])
    known = truth(format=[f"größe {name}" for name in FORMAT])
    refused = {"error": ("text (byte 0xf6", "--encoding cp1252")}
    wide = {"error": ("NUL", "--encoding utf-16")}
    return [
        MessyFile("encodings", "utf8", csv(frame), known),
        MessyFile("encodings", "mark", csv(frame, encoding="utf-8-sig"), known),
        MessyFile("encodings", "utf16", csv(frame, encoding="utf-16"), known),
        MessyFile("encodings", "passed", csv(frame, encoding="cp1252"), known, {"encoding": "cp1252"}),
        MessyFile("encodings", "windows", csv(frame, encoding="cp1252"), known, **refused),
        MessyFile("encodings", "unmarked", csv(messy(), encoding="utf-16-le"), known, **wide),
    ]


def separators() -> list[MessyFile]:
    noted = messy(format=[f"{name}, new; or | old" for name in FORMAT])
    known = truth(format=[f"{name}, new; or | old" for name in FORMAT])
    cut = messy().to_csv(index=False).rsplit(",", 2)[0] + "\n"
    error = (f"line {N + 1} has 3 values, but there are 5 columns", "the separator is ','", "--sep")
    names = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
    return [
        *(MessyFile("separators", name, csv(noted, sep=sep), known) for name, sep in names.items()),
        MessyFile("separators", "passed", csv(noted, sep="#"), known, {"sep": "#"}),
        MessyFile("separators", "cut", text(cut), truth(), error=error),
    ]


def decimals() -> list[MessyFile]:
    steps = np.append(np.arange(N - 1) * 25.0, 1000.0)
    whole = np.round(PRICE)
    commas = messy(price=[f"{value / 1000:.3f}".replace(".", ",") for value in 1000 + PRICE])
    spaces = [f"{value:,.2f}".replace(",", "\u202f").replace(".", ",") for value in PRICE]
    english = "column 'price' has thousands separators"
    return [
        MessyFile("decimals", "german", csv(messy(price=german(PRICE))), truth(), notes=(english,)),
        MessyFile("decimals", "english", csv(messy(price=[f"{v:,.2f}" for v in PRICE])), truth(), notes=(english,)),
        MessyFile("decimals", "spaces", csv(messy(price=spaces), sep=";"), truth(), notes=(english,)),
        MessyFile(
            *("decimals", "steps", csv(messy(price=[f"{value:,.0f}" for value in steps])), truth(price=steps)),
            notes=("'1,000' are read as 1000, but could also be 1 (decimal=',')",),
        ),
        MessyFile(
            *("decimals", "points", csv(messy(price=german(whole, 0)), sep=";"), truth(price=whole)),
            notes=("but could also be", "(decimal='.')"),
        ),
        MessyFile(
            *("decimals", "passed", csv(commas), truth(price=np.round(1 + PRICE / 1000, 3)), {"decimal": ","}),
        ),
    ]


def dates() -> list[MessyFile]:
    early = pd.Series([pd.Timestamp(2020, 1 + i % 12, 1 + i % 11) for i in range(N)])
    mixed = [d.strftime("%d.%m.%Y" if i % 2 else "%Y-%m-%d") for i, d in enumerate(DAYS)]
    words = [d.strftime("%d %b %Y") if i % 5 else "unknown" for i, d in enumerate(DAYS)]
    later = [d.strftime("%d.%m.%Y") if i else "soon" for i, d in enumerate(DAYS)]
    slashes = DAYS.dt.strftime("%d/%m/%Y")
    return [
        MessyFile("dates", "german", csv(messy(released=DAYS.dt.strftime("%d.%m.%Y"))), truth()),
        MessyFile("dates", "slashes", csv(messy(released=slashes)), truth()),
        MessyFile(
            *("dates", "ambiguous", csv(messy(released=early.dt.strftime("%m/%d/%y"))), truth(released=early)),
            notes=("column 'released', such as '01/01/20', are read as month/day/two-digit year (day_first=True)",),
        ),
        MessyFile("dates", "mixed", csv(messy(released=mixed)), truth(), notes=("'released' have 2 formats",)),
        MessyFile(
            *("dates", "words", csv(messy(released=words)), truth(released=DAYS.where(np.arange(N) % 5 > 0))),
            notes=("8 values of the date column 'released', such as 'unknown', are treated as missing",),
        ),
        MessyFile(
            *("dates", "strict", csv(messy(released=later)), truth(), {"strict": True}),
            error=("column 'released' cannot be read as dates, such as 'soon'", "category='released'"),
        ),
    ]


def units() -> list[MessyFile]:
    percent = np.round(PRICE / 30)
    some = [f"{value} kg" if i % 4 else str(value) for i, value in enumerate(PRICE)]
    several = [f"{value:.0f} kg" if i % 2 else f"{value:.0f} g" for i, value in enumerate(PRICE)]
    bounds, read = [f"{v:.0f}" if v > 500 else "<500" for v in PRICE], np.maximum(np.round(PRICE), 500)
    return [
        MessyFile(
            *("units", "percent", csv(messy(price=[f"{v:.0f}%" for v in percent])), truth(price=percent)),
            notes=("column 'price' has the unit '%'",),
        ),
        MessyFile(
            *("units", "euro", csv(messy(price=[f"{v} €" for v in german(PRICE)]), sep=";"), truth()),
            notes=("column 'price' has the unit '€'", "thousands separators"),
        ),
        MessyFile(
            *("units", "dollar", csv(messy(price=[f"${v:,.2f}" for v in PRICE])), truth()),
            notes=("column 'price' has the unit '$'", "thousands separators"),
        ),
        MessyFile("units", "some", csv(messy(price=some)), truth(), notes=("unit 'kg'", "10 values have no unit")),
        MessyFile(
            *("units", "bounds", csv(messy(price=bounds)), truth(price=read)),
            notes=("values of column 'price' are bounds, such as '<500', which is read as 500",),
        ),
        MessyFile(
            *("units", "several", csv(messy(price=several)), truth().drop(columns="price")),
            notes=("'price' have several units, such as", "(number='price')", "'price' looks like an identifier"),
        ),
    ]


def gaps() -> list[MessyFile]:
    gap = np.arange(N) % 5 == 0
    known, listed = truth(price=np.where(gap, np.nan, PRICE)), [str(value) for value in PRICE]
    words = {"empty": "", "unknown": "unknown", "dash": "-", "japanese": "不明"}
    columns = {name: [word if g else v for g, v in zip(gap, listed, strict=True)] for name, word in words.items()}
    blank = pd.concat([messy()[:20], pd.DataFrame([{}, {}]), messy()[20:]])
    huge = [*listed[:-1], "1e400"]
    treated = {name: f"8 values of the number column 'price', such as {word!r}" for name, word in words.items()}
    return [
        MessyFile("gaps", "empty", csv(messy(price=columns["empty"])), known),
        *(
            MessyFile("gaps", name, csv(messy(price=columns[name])), known, notes=(treated[name],))
            for name in ("unknown", "dash", "japanese")
        ),
        MessyFile("gaps", "blank", csv(blank), truth(), notes=("2 blank rows are ignored",)),
        MessyFile(
            *("gaps", "huge", csv(messy(price=huge)), truth(price=np.append(PRICE[:-1], np.nan))),
            notes=("1 of 40 values of column 'price' cannot be read as numbers",),
        ),
    ]


def words() -> list[MessyFile]:
    def labeled(positive: str, negative: str, missing: str = "") -> pd.DataFrame:
        sad = np.where(SAD, positive, negative).astype(object)
        sad[:3] = missing
        return messy(label_sad=sad, label_calm=np.where(CALM, positive, negative))

    known = truth(label_sad=np.where(np.arange(N) < 3, np.nan, SAD))
    passed = {"positive": "present", "negative": "absent", "missing": "not sure"}
    error = ("label column 'label_sad' contains 'absent', 'present'", "positive='", "negative='", "missing='")
    return [
        *(
            MessyFile("words", name, csv(labeled(*pair.split("/"))), known)
            for name, pair in {"french": "oui/non", "russian": "Да/Нет", "signs": "✓/✗", "spanish": "sí/no/?"}.items()
        ),
        MessyFile("words", "passed", csv(labeled("present", "absent", "not sure")), known, passed),
        MessyFile("words", "unknown", csv(labeled("present", "absent")), known, error=error),
    ]


def sheets() -> list[MessyFile]:
    notes = pd.DataFrame({"about": ["a note"]})
    blank = pd.concat([messy()[:7], pd.DataFrame([{}]), messy()[7:]])
    words = truth(price=[value if i % 5 else "unknown" for i, value in enumerate(PRICE)])
    named = {"notes": ("sheet 'Songs' is used; the other sheets are 'Notes'",)}
    error = ("sheet 'Song' does not exist; did you mean 'Songs'?",)
    gap = truth(price=np.where(np.arange(N) % 5, PRICE, np.nan))
    return [
        MessyFile("sheets", "first", excel(Songs=truth(), Notes=notes), truth(), **named),
        MessyFile("sheets", "second", excel(Notes=notes, Songs=messy()), truth(), {"sheet": "Songs"}),
        MessyFile("sheets", "typo", excel(Notes=notes, Songs=messy()), truth(), {"sheet": "Song"}, error=error),
        MessyFile("sheets", "blank", excel(Songs=blank), truth(), notes=("1 blank row is ignored",)),
        MessyFile("sheets", "words", excel(Songs=words), gap, notes=("number column 'price', such as 'unknown'",)),
        MessyFile("sheets", "text", excel(Songs=messy(price=german(PRICE))), truth(), notes=("thousands separators",)),
    ]


def tags() -> list[MessyFile]:
    lists = [[tag for tag, present in zip(TAGS, row, strict=True) if present] for row in TAGGED]
    features = truth().drop(columns=["label_sad", "label_calm"])
    known = features.assign(**{f"label_{tag}": TAGGED[:, j] for j, tag in enumerate(TAGS)})
    table = messy().drop(columns=["label_sad", "label_calm"])
    bands = np.array(["AC/DC", "Queen", "Abba"])[np.arange(N) % 3]
    one = features.assign(**{f"label_{band}": (bands == band) * 1.0 for band in ("AC/DC", "Abba", "Queen")})
    mixed = [("; " if i % 8 else ", ").join(row) for i, row in enumerate(lists)]
    cases = ["; ".join(tag.upper() if i % 5 == 0 else tag for tag in row) for i, row in enumerate(lists)]
    read = {"tags": "tags"}
    return [
        MessyFile("tags", "semicolons", csv(table.assign(tags=["; ".join(row) for row in lists])), known, read),
        MessyFile("tags", "slashes", csv(table.assign(tags=["/".join(row) for row in lists])), known, read),
        MessyFile("tags", "lists", jsonl(table.assign(tags=lists)), known, read),
        MessyFile(
            "tags", "bands", csv(table.assign(tags=bands)), one, read, notes=("'AC/DC' contains '/' (tag_sep='/')",)
        ),
        MessyFile("tags", "cases", csv(table.assign(tags=cases)), known, read, notes=("(tag_case='keep')",)),
        MessyFile(
            *("tags", "mixed", csv(table.assign(tags=mixed)), known, read),
            notes=("tags of 'tags' are read with the separator ';', but the tag ", "(tag_sep=[';', ','])"),
        ),
    ]


def duplicates() -> list[MessyFile]:
    table = messy().assign(code=[f"S{i:03d}" for i in range(N)])
    twice, known = pd.concat([table, table[:6]]), pd.concat([truth(), truth()[:6]])
    numbered = twice.assign(**{"Unnamed: 0": range(N + 6)})
    codes = {"notes": ("6 of 46 rows are duplicates", "'code' looks like an identifier and is not used")}
    numbers = {"notes": (*codes["notes"], "'Unnamed: 0' contains the numbers of the rows")}
    repeated = pd.DataFrame({"id": ["a", "b"] * 20}).join(messy())
    two = ("several columns are named 'price'; the second is used as 'price.1'",)
    doubled = pd.concat([messy(), messy()[["price"]]], axis=1)
    return [
        MessyFile("duplicates", "rows", csv(twice.drop(columns="code")), known, notes=codes["notes"][:1]),
        MessyFile("duplicates", "codes", csv(twice), known, **codes),
        MessyFile("duplicates", "numbers", csv(numbered), known, **numbers),
        MessyFile("duplicates", "names", csv(doubled), truth().assign(**{"price.1": PRICE}), notes=two),
        MessyFile(
            *("duplicates", "identifiers", csv(repeated), truth(), {"id": "id"}),
            notes=("the identifiers in 'id' are not unique: 'a' occurs more than once",),
        ),
        MessyFile("duplicates", "none", csv(table), truth(), notes=("'code' looks like an identifier",)),
    ]


KINDS = (encodings, separators, decimals, dates, units, gaps, words, sheets, tags, duplicates)
FILES = [file for kind in KINDS for file in kind()]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        file.write(folder / file.id)
