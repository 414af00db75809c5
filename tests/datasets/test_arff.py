"""ARFF files: names of labels, omitted values of sparse rows, and nominal values."""

import arff
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from spmld.datasets.arff import parse_arff, read_arff
from tests.datasets.text_files import quote

DENSE = """% a comment
@relation 'songs: -C -2'
@attribute pitch numeric
@attribute loud {no,yes}
@attribute sad {0,1}
@attribute 'calm or so' {0,1}
@data
% another
0.5,yes,1,0
?,no,?,1
"""
XML = '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


def write(folder, text, name="file.arff"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_dense_files_with_the_header_of_meka(tmp_path):
    data = read_arff(write(tmp_path, DENSE))
    np.testing.assert_array_equal(data.X, [[0.5, 1], [np.nan, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [np.nan, 1]])
    assert data.feature_names == ["pitch", "loud"]
    assert data.label_names == ["sad", "calm or so"]
    first = read_arff(
        write(tmp_path, DENSE.replace("-C -2", "-C 2").replace("?,no,?,1", "1,no,1,1").replace("0.5", "0"))
    )
    assert first.label_names == ["pitch", "loud"]
    # A third value that does not occur is ignored.
    assert read_arff(write(tmp_path, DENSE.replace("sad {0,1}", "sad {0,1,2}"))).Y[0, 0] == 1


def test_labels_can_be_named_and_have_any_position(tmp_path):
    file = write(tmp_path, DENSE.replace(": -C -2", ""))
    data = read_arff(file, labels=["sad", "loud"])
    assert data.label_names == ["loud", "sad"]
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, np.nan]])
    with pytest.raises(ValueError, match="cannot determine the labels: pass labels= or xml="):
        read_arff(file)


def test_the_xml_file_of_mulan_has_priority_over_the_header_and_is_found_by_name(tmp_path):
    nested = '<label name="sad"><label name="loud"></label></label>'
    write(tmp_path, XML.format(nested), "songs.xml")
    for name in ("songs.arff", "songs-train.arff", "songs-test-sparse.arff"):
        assert read_arff(write(tmp_path, DENSE, name)).label_names == ["loud", "sad"]
    other = write(tmp_path, XML.format('<label name="sad"/>'), "other.xml")
    assert read_arff(tmp_path / "songs.arff", xml=other).label_names == ["sad"]


def test_an_outdated_header_raises(tmp_path):
    relation = "'songs: -C 2-weka.filters.unsupervised.attribute.Remove-R1-2'"
    with pytest.raises(ValueError, match="attributes were moved or removed afterwards"):
        read_arff(write(tmp_path, DENSE.replace("'songs: -C -2'", relation)))


def test_sparse_rows_omit_zeros_and_first_values(tmp_path):
    head = (
        "@relation 'a: -C -2'\n@attribute x numeric\n@attribute z real\n@attribute a {0,1}\n@attribute b {1,0}\n@data\n"
    )
    data = read_arff(write(tmp_path, head + "{0 2,2 1}\n{}\n{1 ?,3 0}\n"))
    assert sp.issparse(data.X)
    np.testing.assert_array_equal(data.X.toarray(), [[2, 0], [0, 0], [0, np.nan]])
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 1], [0, 0]])
    flipped = head.replace("x numeric", "x {5,0}")
    np.testing.assert_array_equal(read_arff(write(tmp_path, flipped + "{1 3}\n{0 0}\n")).X, [[5, 3], [0, 0]])


def test_other_encodings_can_be_passed(tmp_path):
    file = tmp_path / "file.arff"
    file.write_bytes(DENSE.replace("sad", "mélancolique").encode("latin-1"))
    with pytest.raises(ValueError, match=r"file\.arff is not utf-8 text \(byte 0xe9 .*cp1252"):
        read_arff(file)
    assert read_arff(file, encoding="latin-1").label_names[0] == "mélancolique"
    file.write_bytes(b"\xef\xbb\xbf" + DENSE.encode())
    assert read_arff(file).label_names[0] == "sad"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("?,no,?,1\n", "?,no,?", "line 10"),
        ("-C -2", "-C 7", "has -C 7, which must be between 1 and 3 in absolute value"),
        ("-C -2", "-C 4", "has -C 4, which must be between 1 and 3 in absolute value"),
        ("pitch numeric", "pitch string", "attribute 'pitch' is a string"),
        ("{no,yes}", "{no,yes,red}", "attribute 'loud' has the values no, yes, red, which are not numbers"),
        ("0.5,yes,1,0\n?,no,?,1\n", "", "no samples"),
        ("@data", "", "cannot be read as an ARFF file"),
    ],
)
def test_invalid_files_raise_with_the_reason(old, new, message, tmp_path):
    assert old in DENSE
    file = write(tmp_path, DENSE.replace(old, new))
    with pytest.raises(ValueError, match=rf"file\.arff .*{message}"):
        read_arff(file)


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (
            XML.format('<label name="sad"/><label name="glad"/>'),
            "lacks 1 of the 2 labels, glad; the columns are .*labels of ",
        ),
        (XML.format(""), "the list of labels is empty .*labels of "),
        (XML.format("<label"), r"file\.xml cannot be read as MULAN's XML file of labels"),
        ("", r"file\.xml is empty"),
        ('<!DOCTYPE a [<!ENTITY b "sad">]><labels><label name="&b;"/></labels>', "entities are not accepted"),
    ],
)
def test_invalid_xml_files_raise(xml, message, tmp_path):
    write(tmp_path, xml, "file.xml")
    with pytest.raises(ValueError, match=message):
        read_arff(write(tmp_path, DENSE))


NUMBER = st.floats(allow_nan=False, allow_infinity=False).map(repr)
WORD = st.text("ab é_'\"\\,{}%\t", min_size=1, max_size=5)


@st.composite
def sparse_or_dense(draw):
    """The text of a valid file, and whether it is sparse."""
    values = draw(
        st.lists(st.sampled_from(["0", "1", "red", "very good", "it's", "a,b", "{c}"]), min_size=1, unique=True)
    )
    kinds = draw(st.lists(st.sampled_from(["numeric", "REAL", "nominal"]), min_size=1, max_size=4))
    nominal = "{" + ", ".join(quote(value) for value in values) + "}"
    head = [f"@attribute a{i} {nominal if kind == 'nominal' else kind}" for i, kind in enumerate(kinds)]
    cells = [st.sampled_from([quote(v) for v in values]) if kind == "nominal" else NUMBER for kind in kinds]
    sparse, rows = draw(st.booleans()), []
    for _ in range(draw(st.integers(1, 4))):
        row = [draw(st.one_of(st.just("?"), cell)) for cell in cells]
        kept = draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row)))
        pairs = ",".join(f"{i} {value}" for i, value in enumerate(row) if kept[i])
        rows.append("{" + pairs + "}" if sparse else draw(st.sampled_from([",", ", "])).join(row))
        rows += draw(st.sampled_from([[], [""], ["% ' a comment"]]))
    return "\n".join(["@relation 'a b'", *head, "@data", *rows]), sparse


@given(sparse_or_dense())
def test_values_agree_with_another_parser(case):
    text, sparse = case
    content = parse_arff(text)
    expected = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
    assert content.sparse == sparse
    kinds = list(content.attributes.values())
    assert list(content.attributes.items()) == expected["attributes"]

    def converted(i, value):
        return value if value is None or not isinstance(kinds[i], str) else float(value)

    rows = [{i: converted(i, value) for i, value in row.items()} for row in content.rows.values()]
    assert rows == [row if sparse else dict(enumerate(row)) for row in expected["data"]]


@given(WORD)
def test_quoted_names_are_read_back(name):
    text = f"@relation {quote(name)}\n@attribute\t{quote(name)}\t{{{quote(name)},b c}}\n@data\n{{0 {quote(name)}}}"
    content = parse_arff(text)
    assert (content.relation, content.attributes) == (name, {name: [name, "b c"]})
    assert list(content.rows.values()) == [{0: name}]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("% another", "% \n" * 100_000, None),  # a regular expression could need exponential time
        ("% another", "%" + " % '\"" * 100_000, None),
        ("{no,yes}", "{no,yes" + "," * 100_000, "line 4: expected values in braces"),
        ("{no,yes}", "{no yes" + " ," * 100_000 + "}", "line 4: expected values in braces"),
        ("{no,yes}", "{'no'" + ",'" * 99_999 + "}", "line 4"),
        ("{no,yes}", "'" * 100_000, "line 4"),
        ("?,no,?,1", "'" + "\\" * 100_000 + "x", "line 10: cannot be split at commas"),
        ("?,no,?,1", "{" + "'," * 100_000, "line 10"),
        ("0.5,yes,1,0", "5%,yes,1,0", "line 9: 'pitch' must be a number, got '5%'"),
        ("0.5,yes,1,0", "5,%d,1,0", "line 9: 'loud' must be one of no, yes, got '%d'"),
        ("0.5,yes,1,0", "5,yes%,1", "line 9: expected 4 values, one for each attribute, got 3"),
        ("0.5,yes,1,0", "{0 1,9 1}", "line 9: expected indices from 0 to 3, got 9"),
        ("0.5,yes,1,0", "{0 1,2 1,2 0}", "line 9: expected each index once, got '{0 1,2 1,2 0}'"),
        ("loud {no,yes}", "loud date", "line 4: an attribute has the type 'date', accepted: numeric"),
        ("loud {no,yes}", "pitch {no,yes}", "line 4: the attribute 'pitch' is declared a second time"),
        ("@data", "data", "line 7: expected a declaration or a comment, got 'data'"),
    ],
)
def test_hostile_files_are_read_in_linear_time(old, new, message, tmp_path):
    assert old in DENSE
    file = write(tmp_path, DENSE.replace(old, new))
    if message is None:
        assert len(read_arff(file).Y) == 2
    else:
        with pytest.raises(ValueError, match=rf"file\.arff .*{message}"):
            read_arff(file)


def test_tabs_ranges_and_escaped_names_are_accepted(tmp_path):
    text = DENSE.replace("pitch numeric", "pitch\tREAL [0, 1]").replace("'calm or so'", r"'it\'s'")
    write(tmp_path, XML.format(r'<label name="sad"/><label name="it\'s"/>'), "file.xml")
    assert read_arff(write(tmp_path, text)).label_names == ["sad", "it's"]


def test_hierarchical_attributes_are_paths_of_labels(tmp_path):
    file = tmp_path / "songs.arff"
    file.write_text(
        "@relation a\n@attribute x numeric\n@attribute class hierarchical r,r/m,r/m/d,j\n@data\n?,r/m@j\n2,?\n"
    )
    data = read_arff(file)
    assert data.label_names == ["r", "r/m", "r/m/d", "j"]
    assert set(data.hierarchy.edges) == {("r", "r/m"), ("r/m", "r/m/d")}
    assert np.array_equal(data.Y, [[1, 1, 0, 1], [np.nan] * 4], equal_nan=True)
    file.write_text(file.read_text().replace("r/m@j", "r/x"))
    with pytest.raises(ValueError, match="line 5: 'class' must have paths of the attribute, got 'r/x'"):
        read_arff(file)
