"""Labels as words and as tags."""

import numpy as np
import pandas as pd
import pytest

from spmld import MaskedLogistic
from spmld.labels import read_labels, read_tags
from spmld.labels.tags import guess_separator, split_tags, unclear_separators
from spmld.labels.words import label_words, to_number

SIGNS = np.array([[1, -1], [-1, 1], [0, 1]])


PAIRS = "yes/no Y/n TRUE/False ja/nein x/0 wahr/falsch j/n t/f ✓/no ✔/0 oui/non sí/NO tak/nie ja/nej Да/нет ✓/✗"


@pytest.mark.parametrize("words", [*(pair.split("/") for pair in PAIRS.split()), (" 1 ", "0"), (True, False), (1, 0)])
def test_words_are_labels(words):
    positive, negative = words
    for missing in (None, np.nan, "", "?"):
        Y = [[positive, negative], [negative, positive], [missing, positive]]
        for form in (np.array(Y, dtype=object), pd.DataFrame(Y, columns=["a", "b"])):
            np.testing.assert_array_equal(read_labels(form).signs, SIGNS)


def test_words_of_several_kinds_can_be_mixed():
    labels = read_labels(pd.DataFrame({"a": ["ja", "nein", None], "b": [0, 1, 1], "c": ["x", "", "x"]}))
    np.testing.assert_array_equal(labels.signs, [[1, -1, 1], [-1, 1, 0], [0, 1, 1]])
    assert labels.classes.tolist() == [0, 1]


def test_other_words_raise():
    with pytest.raises(ValueError, match="values other than labels: 'maybe'"):
        read_labels([["maybe", "yes"], ["no", "yes"]])


@pytest.mark.parametrize("words", [("yes", "no"), ("ja", "nein"), ("x", "n")])
def test_the_positive_class_of_one_label_is_the_positive_word(words):
    positive, negative = words
    X = np.arange(8.0)[:, None]
    y = np.where(X[:, 0] > 3, positive, negative)
    model = MaskedLogistic(C=100.0).fit(X, y)
    assert model.classes_.tolist() == [negative, positive]
    assert model.predict([[7.0]]).tolist() == [positive]


def test_tags_in_all_forms_are_the_same():
    lists = [["sad", "slow"], ["happy"], [], ["happy", "slow"]]
    Y = read_tags(lists).Y
    np.testing.assert_array_equal(Y, [[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, 1]])
    for sep in (";", "; ", ",", "|", "/", "\n"):
        tags = read_tags([sep.join(items) for items in lists], empty_is="negative")
        np.testing.assert_array_equal(tags.Y, Y)
        assert tags.names == ["happy", "sad", "slow"]
    printed = read_tags([str(items) for items in lists])  # with brackets and quotes
    np.testing.assert_array_equal(printed.Y, Y)
    assert printed.names == ["happy", "sad", "slow"]
    np.testing.assert_array_equal(read_tags([" ".join(items) for items in lists], sep=" ", empty_is="negative").Y, Y)


def test_unlisted_and_empty_fields():
    values = ["a;b", None, "a"]
    nan = np.nan
    for untagged, empty_is, expected in (
        ("negative", "missing", [[1, 1], [nan, nan], [1, 0]]),
        ("negative", "negative", [[1, 1], [0, 0], [1, 0]]),
        ("missing", "missing", [[1, 1], [nan, nan], [1, nan]]),
        ("weak", "negative", [[1, 1], [0, 0], [1, nan]]),
    ):
        tags = read_tags(values, untagged=untagged, empty_is=empty_is)
        np.testing.assert_array_equal(tags.Y, expected)
        assert tags.n_empty == 1


def test_an_empty_list_is_a_sample_without_tags():
    for untagged in ("negative", "missing", "weak"):
        np.testing.assert_array_equal(read_tags([["a", "b"], [], None], untagged=untagged).Y[1], [0, 0])


def test_names_of_a_model_select_the_tags():
    tags = read_tags(["a;b;z", "z;y"], names=["b", "a", "c"])
    np.testing.assert_array_equal(tags.Y, [[1, 1, 0], [0, 0, 0]])
    assert tags.unknown == {"z": 2, "y": 1}


def test_invalid_tags_raise():
    with pytest.raises(ValueError, match="at least one tag, got 2 empty fields"):
        read_tags([None, ""])
    with pytest.raises(ValueError, match="untagged must be one of negative, weak, missing, got 'no'"):
        read_tags(["a"], untagged="no")


def test_tags_that_differ_in_case_are_one_label():
    values = ["Rock; sad", "rock", "ROCK;Sad", "rock;Live", None]
    tags = read_tags(values)
    assert tags.names == ["Live", "rock", "sad"]  # the most frequent spelling; of equals, the one in lower case
    assert tags.merged == {"Rock": "rock", "ROCK": "rock", "Sad": "sad"}
    np.testing.assert_array_equal(tags.Y, read_tags([value and value.lower() for value in values]).Y)
    assert read_tags(["Rock", "Rock", "rock"]).names == ["Rock"]
    kept = read_tags(values, tag_case="keep")
    assert (kept.names, kept.merged) == (["Live", "ROCK", "Rock", "Sad", "rock", "sad"], {})
    with pytest.raises(ValueError, match="tag_case must be one of merge, keep, got 'lower'"):
        read_tags(values, tag_case="lower")


def test_names_of_a_model_in_another_case():
    tags = read_tags(["ROCK", "us;Us"], names=["rock", "US", "us"])
    np.testing.assert_array_equal(tags.Y, [[1, 0, 0], [0, 0, 1]])
    assert tags.unknown == {"Us": 1}  # two labels differ from it in case only
    assert read_tags(["ROCK"], names=["rock"], tag_case="keep").unknown == {"ROCK": 1}


def test_single_brackets_are_part_of_a_tag_and_empty_items_are_not_tags():
    assert split_tags("[live] set; demo", ";") == ["[live] set", "demo"]
    assert split_tags("set [live]", ";") == ["set [live]"]
    assert split_tags(["a", None, " ", " b "], None) == ["a", "b"]
    assert split_tags(float("nan"), ";") is None


@pytest.mark.parametrize(
    "spelling", ["caf\u00e9 noir", "cafe\u0301\u00a0noir", "CAF\u00c9 NOIR", "caf\u00e9\u200b noir"]
)
def test_spellings_of_a_tag_are_one_label(spelling):
    values = ["caf\u00e9 noir; calm", "caf\u00e9 noir", spelling, "calm"]
    tags = read_tags(values)
    assert tags.names == ["caf\u00e9 noir", "calm"]
    np.testing.assert_array_equal(tags.Y[:, 0], [1, 1, 1, 0])
    assert set(tags.merged) == {spelling} - {"caf\u00e9 noir"}
    kept = read_tags(values, tag_case="keep")
    assert (len(kept.names) == 2) == (spelling != "CAF\u00c9 NOIR")  # those that look the same
    np.testing.assert_array_equal(read_tags([spelling], names=["caf\u00e9 noir"]).Y, [[1]])


def test_full_width_tags_and_words_are_read():
    assert read_tags(["\uff32\uff2f\uff23\uff2b; sad", "rock", "Rock", "rock"]).names == ["rock", "sad"]
    signs = read_labels([["\uff59\uff45\uff53", "no\u200b"], ["\ufeffno", "✔\ufe0f"]]).signs
    np.testing.assert_array_equal(signs, [[1, -1], [-1, 1]])


def test_names_of_labels_have_no_invisible_characters():
    tags = read_tags(["sad\u200b; \u200b", "\u200bsad\u200b"])
    assert tags.names == ["sad"]
    np.testing.assert_array_equal(read_tags(["sad", "\u200b"]).Y, [[1], [np.nan]])


def test_tags_that_differ_in_hyphens_are_reported():
    assert read_tags(["hip hop; c", "hip-hop; c++", "Hip_Hop"]).similar == [("Hip_Hop", "hip hop", "hip-hop")]
    assert read_tags(["Rock; rock"], tag_case="keep").similar == []


def test_a_slash_is_a_separator_only_if_other_values_have_its_tags():
    bands = ["AC/DC", "Queen", "AC/DC", "Abba", "AC/DC"]
    assert read_tags(bands).names == ["AC/DC", "Abba", "Queen"]
    assert read_tags(["rock/pop", "pop", "rock/folk", "folk"]).names == ["folk", "pop", "rock"]
    assert read_tags(bands, sep="/").names == ["AC", "Abba", "DC", "Queen"]


def test_several_separators():
    texts = ["rock; pop", "hip-hop, rock", "AC/DC;pop,jazz"]
    assert read_tags(texts, sep=";,").names == ["AC/DC", "hip-hop", "jazz", "pop", "rock"]
    assert split_tags("['sad', 'slow'; x]", ";,") == ["sad", "slow", "x"]
    # Other texts are one separator.
    assert split_tags("a||b|c", "||") == ["a", "b|c"]
    assert split_tags("a, b,c", ", ") == ["a", "b,c"]
    assert split_tags("a and b", " and ") == ["a", "b"]


def test_separators_can_be_repeated():
    texts = ["rock; pop and jazz", "folk,pop/rock+jazz", "folk"]
    expected = ["folk", "jazz", "pop", "rock"]
    assert read_tags(texts, sep=[";", ",", "/", "+", " and "]).names == expected
    assert read_tags(texts, sep=(" and ", ";,/+")).names == expected
    assert split_tags("a - b-c", ["-", " - "]) == ["a", "b", "c"]
    assert split_tags("a+b&c;d", ";,/+") == ["a", "b&c", "d"]


@pytest.mark.parametrize(
    ("texts", "sep", "unclear"),
    [
        (["rock; pop", "pop; jazz", "jazz"], ";", {}),
        (["rock, pop", "pop", "jazz, pop"], ",", {}),
        (["rock; pop", "hip-hop, rock&roll", "pop; jazz"], ";", {",": "hip-hop, rock&roll"}),
        (["Earth, Wind & Fire", "Queen", "Abba"], ",", {",": "Earth, Wind & Fire"}),
        (["AC/DC", "Queen"], None, {"/": "AC/DC"}),
        (["rock; AC/DC", "rock; pop"], ";", {"/": "AC/DC"}),
        (["rock; rock+pop", "pop; C++; pop+rock"], ";", {"+": "rock+pop"}),
        (["rock; R&B", "pop; C++"], ";", {}),
    ],
)
def test_separators_that_make_the_guess_unclear(texts, sep, unclear):
    assert guess_separator(texts) == sep
    assert unclear_separators(texts, sep) == unclear


def test_words_can_be_passed_and_take_precedence():
    words = label_words(positive=["Detected", "+"], negative=["x"], missing=["no"])
    assert [words.read(word) for word in ("detected", " + ", "X", "yes", "0")] == [1, 1, 0, 1, 0]
    assert np.isnan(words.read("No"))
    assert to_number("no") == 0


NAN = np.nan
VOTES = (-1, 0, 1, 2, 3, " 2.0 ", "\uff13")  # the last one is a digit of full width


@pytest.mark.parametrize(
    ("passed", "meanings"),
    [
        ({}, [-1, 0, 1, None, None, None, None]),
        ({"missing": ["-1"]}, [NAN, 0, 1, None, None, None, None]),
        ({"missing": ["0"]}, [-1, NAN, 1, None, None, None, None]),
        ({"positive": ["1.0"]}, [0, 0, 1, 0, 0, 0, 0]),
        ({"positive": ["2", "3"], "missing": ["-1"]}, [NAN, 0, 0, 1, 1, 1, 1]),
        ({"positive": [" >= 2"]}, [0, 0, 0, 1, 1, 1, 1]),
        ({"positive": [">2"], "negative": ["<=0"]}, [0, 0, NAN, NAN, 1, NAN, 1]),
        ({"positive": ["≥2"], "negative": ["<1"], "missing": ["<0"]}, [NAN, 0, NAN, 1, 1, 1, 1]),
        ({"negative": ["≤1"]}, [0, 0, 0, 1, 1, 1, 1]),
        ({"positive": [1], "negative": [0]}, [None, 0, 1, None, None, None, None]),
        ({"negative": ["2"]}, [None, None, 1, 0, None, 0, None]),
        ({"positive": [">=2"], "missing": [3]}, [0, 0, 0, 1, NAN, 1, NAN]),
    ],
)
def test_numbers_and_thresholds_can_be_passed(passed, meanings):
    words = label_words(**passed)
    assert [words.read(value) for value in VOTES] == pytest.approx(meanings, nan_ok=True)
    assert (words.read("yes"), words.read("no"), words.read("maybe")) == (1, 0, None)


def test_numbers_with_two_meanings_raise():
    with pytest.raises(ValueError, match=r"'2.0' is in both positive and missing; pass it to one of them"):
        label_words(positive=["2"], missing=["2.0"])
    words = label_words(positive=[">=2"], negative=["<3"])
    assert (words.read(1), words.read(3)) == (0, 1)
    with pytest.raises(ValueError, match=r"2 is both positive \(>=2\) and negative \(<3\)"):
        words.read(2)


def test_a_tag_that_is_a_path_has_its_ancestors():
    values = ["rock/metal", "Rock / Punk", "rock", "sad|rock/metal", "", "jazz/bebop|sad", "rock/metal|jazz/bebop"]
    assert guess_separator(values) == "/"
    tags = read_tags(values, path_sep="/")
    assert tags.sep == "|"
    assert tags.names == ["Rock/Punk", "jazz", "jazz/bebop", "rock", "rock/metal", "sad"]
    counts = {"rock": 5, "rock/metal": 3, "Rock/Punk": 1, "jazz": 2, "jazz/bebop": 2, "sad": 2}
    assert dict(zip(tags.names, np.nansum(tags.Y, axis=0), strict=True)) == counts
    # A new path counts for the ancestors that are known.
    new = read_tags(["rock/metal/doom"], path_sep="/", names=tags.names)
    assert (new.Y[0].tolist(), list(new.unknown)) == ([0, 0, 0, 1, 1, 0], ["rock/metal/doom"])


@pytest.mark.parametrize("sep", [None, ";", "/"])
def test_words_for_no_tags_and_for_empty_fields_are_not_tags(sep):
    values = ["a;b" if sep != "/" else "a/b", "-", " None ", "n/a", "?", "\u2014", ["none"], None, "a"]
    tags = read_tags(values, sep=sep)
    assert tags.names == ["a", "b"]
    nothing, empty = [0, 0], [NAN, NAN]
    expected = [[1, 1], nothing, nothing, empty, empty, nothing, nothing, empty, [1, 0]]
    np.testing.assert_array_equal(tags.Y, expected)
    assert {word: count for word, (_, count) in tags.words.items()} == {
        "-": 1,
        "none": 2,
        "n/a": 1,
        "?": 1,
        "\u2014": 1,
    }
    negative = read_tags(values, sep=sep, empty_is="negative", untagged="missing").Y
    np.testing.assert_array_equal(negative, [[1, 1], *([nothing] * 7), [1, NAN]])


def test_a_word_beside_other_tags_is_a_tag():
    tags = read_tags(["a;none;b", "none", "-;a", "N/A"])
    assert (tags.names, tags.kept) == (["a", "b", "none"], {"none": "a, none, b"})
    np.testing.assert_array_equal(tags.Y, [[1, 1, 1], [0, 0, 1], [1, 0, 0], [NAN] * 3])
    # The labels of a model decide.
    np.testing.assert_array_equal(read_tags(["none"], names=["a", "none"]).Y, [[0, 1]])
    np.testing.assert_array_equal(read_tags(["a;none", "none"], names=["a"]).Y, [[1], [0]])


def test_words_of_tags_can_be_passed():
    values = ["a;none;b", "none", "-", "later"]
    assert read_tags(values, negative=["none"], missing=["later"]).names == ["a", "b"]
    Y = read_tags(values, negative="None", missing=["-", "later"]).Y
    np.testing.assert_array_equal(Y, [[1, 1], [0, 0], [NAN, NAN], [NAN, NAN]])
    assert read_tags(["-", "a"], positive=["-"]).names == ["-", "a"]
