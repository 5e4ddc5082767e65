"""How a text table is written is recognized, or asked for; errors name the line of the file."""

import csv
import gzip
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.datasets import load_files, load_views
from latefusion.datasets.options import BLANKS, TableOptions
from latefusion.datasets.text_tables import line_of_row, read_text
from tests.properties import examples

pytest.importorskip("pandas")

ROWS = [["s1", "1.5", "-2000.25"], ["s2", "30", "0.125"], ["s3", "0.5", "7"]]
VALUES = [[1.5, -2000.25], [30, 0.125], [0.5, 7]]
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blank": " ", "blanks": "   "}


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("names", ["names", "no name of ids", "no names"])
@pytest.mark.parametrize("quoted", [False, True])
def test_separator_and_decimal_sign_are_recognized(tmp_path, separator, decimal, names, quoted):
    if separator == "comma" and decimal == "," and not quoted:
        return  # nobody could read this
    sign = SEPARATORS[separator]
    lines = {"names": [["id", "a", "b"]], "no name of ids": [["a", "b"]], "no names": []}[names]
    lines += [[value.replace(".", decimal) for value in row] for row in ROWS]
    if quoted:
        lines = [[f'"{value}"' for value in line] for line in lines]
    path = write(tmp_path / "t.txt", "\n".join(sign.join(line) for line in lines))
    frame, dialect = read_text(path, TableOptions())
    assert dialect.separator == (BLANKS if separator.startswith("blank") else sign)
    assert dialect.decimal == decimal
    assert dialect.has_names == (names != "no names")
    views = load_views(path).views
    np.testing.assert_array_equal(views.arrays[0], VALUES)
    assert views.sample_ids.tolist() == ["s1", "s2", "s3"]
    assert len(frame) == 3


@pytest.mark.parametrize("sign", [":", "~", "^"])
def test_other_separators_are_named(tmp_path, sign):
    path = write(tmp_path / "t.txt", "\n".join(sign.join(row) for row in [["id", "a", "b"], *ROWS]))
    with pytest.raises(
        ValueError, match=r"t\.txt' has 3 rows and 0 columns.*detected separator is comma.*separator= \(semicolon"
    ):
        load_views(path)
    np.testing.assert_array_equal(load_views(path, separator=sign).views.arrays[0], VALUES)
    other = write(tmp_path / "u.txt", path.read_text().replace("a", "c"))
    assert load_files([path, other], separator=sign).views.widths == (2, 2)


def test_a_separator_inside_ids_and_names_is_not_taken(tmp_path):
    """Pipes stand in every line once, but only commas leave numbers."""
    path = write(tmp_path / "t.csv", "gene|id,s1,s2\nTP53|7157,1,2\nMYC|4609,3,4\n")
    assert load_views(path).views.widths == (2,)


def test_tabs_before_an_empty_last_column_are_separators(tmp_path):
    path = write(tmp_path / "t.tsv", "id\ta\tqc\ns1\t1.5\t\ns2\t2.5\t\ns3\t0.5\t\n")
    np.testing.assert_array_equal(load_views(path).views.arrays[0][:, 0], [1.5, 2.5, 0.5])


def test_words_with_blanks_are_not_divided(tmp_path):
    write(tmp_path / "v.csv", "p,q\n1,2\n3,4\n5,6\n")
    write(tmp_path / "labels.txt", "label\nT cell\nB cell\nT cell\n")
    assert load_views(tmp_path).target_names == ("B cell", "T cell")
    path = write(tmp_path / "ids.txt", "id\nPatient 1\nPatient 2\n")
    with pytest.raises(ValueError, match="0 columns of values beside the ids in 'id'"):
        load_views(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('id,a,b\ns1,"1,234.5",2\ns2,"12,345",3\n', [[1234.5, 2], [12345, 3]]),
        ("id;a;b\ns1;1.234,5;2\ns2;12.345;3\n", [[1234.5, 2], [12345, 3]]),
        ("id\ta\tb\ns1\t1,234,567\t2\ns2\t12,345\t3\n", [[1234567, 2], [12345, 3]]),
        ("id;a;b\ns1;1,234;2\ns2;12,345;3\n", [[1.234, 2], [12.345, 3]]),
        ('id,a,b\ns1,"1,234",2\ns2,7,3\n', [[1234, 2], [7, 3]]),
    ],
)
def test_thousands(tmp_path, text, expected):
    np.testing.assert_array_equal(load_views(write(tmp_path / "t.csv", text)).views.arrays[0], expected)


def test_a_comma_that_may_mean_two_things_is_asked_about(tmp_path):
    path = write(tmp_path / "t.tsv", "id\ta\ns1\t7\n\ns2\t1,234\n")
    with pytest.raises(
        ValueError, match=r"t\.tsv', line 4: the comma in '1,234' may be .*decimal=',' for a decimal comma"
    ):
        load_views(path)
    assert load_views(path, decimal=",").views.arrays[0].ravel().tolist() == [7, 1.234]
    assert load_views(path, decimal=".").views.arrays[0].ravel().tolist() == [7, 1234]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# made by a tool\n# on a day, 2020\nid,a\ns1,1\ns2,2\n", 3),
        ("#id,a\ns1,1\ns2,2\n", 1),
        ("# made by a tool\n#id,a\ns1,1\ns2,2\n", 2),
        ("sep=,\nid,a\ns1,1\ns2,2\n", 2),
        ("\n\n  \nid,a\n\ns1,1\n\t\ns2,2\n\n", 4),
        ("\ufeffid,a\r\ns1,1\r\ns2,2\r\n", 1),
        ("id,a\rs1,1\rs2,2", 1),
        ("id,a\ns1,1\ns2,2\n,\n,\n", 1),
        ("id , a \n s1 , 1 \n s2 , 2 \n", 1),
        (",id,a\n0,s1,1\n1,s2,2\n", 1),
        ("group,id,a\n1,s1,1\n1,s2,2\n", 1),
    ],
)
def test_what_surrounds_a_table(tmp_path, text, line):
    path = write(tmp_path / "t.csv", text)
    data = load_views(path)
    assert data.views.sample_ids.tolist() == ["s1", "s2"]
    assert data.views.arrays[0][:, -1].tolist() == [1, 2]
    assert data.feature_names["t"][-1] == "a"
    assert read_text(path, TableOptions())[1].first_line == line


def test_names_of_several_lines(tmp_path):
    path = write(tmp_path / "t.csv", '"id","weight\n(mg)","b, c"\n"s1",1,2\n"s2",3,4\n')
    assert load_views(path).feature_names["t"] == ["weight\n(mg)", "b, c"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,a,b\ns1,1,2\n\ns2,3,4,5\n", r"line 4: 4 values, but there are 3 names in line 1 \(separated by comma\)"),
        ("id,a,b\ns1,1,2\n\ns2,3\ns3,4,5\n", "line 4: 2 values, but there are 3 names in line 1"),
        (
            "# x\nid;a;b\ns1;1;2\ns2;3\n",
            r"line 4: 2 values, but there are 3 names in line 2 \(separated by semicolon\)",
        ),
        ("1,2,3\n4,5,6\n7,8\n", "line 3: 2 values, but there are 3 values in line 1"),
        ('id,a,b\ns1,1,2\ns2,"3,4\ns3,5,6\n', r'line 3: a quote \("\) is opened and not closed'),
        ("id,a\ns1,1\n\n,2\ns3,3\n", r"no id in line 4 \(empty or NA in column 'id'\)\. Add"),
        ("id,a\ns1,1\n,2\nNA,3\n", "no id in line 3.*, nor in 1 other rows"),
        (
            "id,a\nx,1\ns1,2\n\ns1 ,3\ns1,4\nx,5\n",
            "'x' 2 times .in column 'id', in line 2 and in line 7.*1 other id more",
        ),
        ("id,a,b,a\ns1,1,2,3\n", r"line 1: several columns with the same name, 'a' \(2 times: columns 2 and 4\)"),
        ("id,a\0\ns1,1\n", "zero bytes"),
    ],
)
def test_errors_name_the_line_of_the_file(tmp_path, text, message):
    path = write(tmp_path / "t.csv", text)
    with pytest.raises(ValueError, match=rf"t\.csv'.*{message}"):
        load_views(path)


def test_a_short_line_between_blanks(tmp_path):
    path = write(tmp_path / "t.txt", "id a b\ns1 1 2\ns2 3 4\ns3 5\n")
    with pytest.raises(ValueError, match=r"detected separator is comma.*separator= \(.*blank"):
        load_views(path)
    with pytest.raises(ValueError, match=r"line 4: 2 values, but there are 3 names in line 1 \(separated by blank\)"):
        load_views(path, separator="blank")


MIXED = [
    ["größe", "n", "farbe", "text"],
    ["1.5", "7", "rot", "a; b, c"],
    ["?", "1200", "", "d\te|f"],
    ["0.25", "", "grün", "g"],
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_mixed_columns_in_all_dialects(tmp_path, encoding, separator, decimal, suffix):
    rows = [MIXED[0], *([value.replace(".", decimal) for value in row[:2]] + row[2:] for row in MIXED[1:])]
    text = "\r\n".join(separator.join(f'"{value}"' for value in row) for row in rows)
    content = text.encode(encoding)
    path = tmp_path / f"t{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    (frame,) = load_views(path).views.arrays
    assert list(frame.columns) == MIXED[0]
    np.testing.assert_array_equal(frame["größe"], [1.5, np.nan, 0.25])
    np.testing.assert_array_equal(frame["n"], [7, 1200, np.nan])
    assert frame["farbe"].fillna("-").tolist() == ["rot", "-", "grün"]
    assert frame["text"].tolist() == ["a; b, c", "d\te|f", "g"]


def test_a_short_line_below_numbers_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"t\.csv', line 2: 2 values, but there are 3 names in line 1"):
        load_views(write(tmp_path / "t.csv", "id\t1\t2\nid\tid"))


def test_a_column_of_words_keeps_its_words(tmp_path):
    """Markers are gaps among numbers only, and what may be numbers with signs stays as it is written."""
    path = write(tmp_path / "t.csv", "id,a,b,c,d\ns1,?,12 %,2020-01-02,7\ns2,-,3 %,2020-02-03,2020_1\n")
    (frame,) = load_views(path).views.arrays
    assert frame["a"].isna().all()  # nothing but markers
    assert frame["b"].tolist() == ["12 %", "3 %"]
    assert frame["c"].tolist() == ["2020-01-02", "2020-02-03"]
    assert frame["d"].tolist() == ["7", "2020_1"]
    path = write(tmp_path / "t.csv", "id,a\ns1,?\ns2,+\ns3,-\n")
    assert load_views(path).views.arrays[0]["a"].tolist() == ["?", "+", "-"]


def test_a_field_of_ten_mebibytes(tmp_path):
    long = "many words, " * (10 * 2**20 // 12)
    path = write(tmp_path / "t.csv", f'id,a,b\ns1,1,"{long}"\ns2,2,short\ns3,3,\n')
    limit = csv.field_size_limit()
    (frame,) = load_views(path).views.arrays
    assert csv.field_size_limit() == limit
    assert frame["b"].fillna("").map(len).tolist() == [len(long), 5, 0]
    write(path, f'id,a,b\ns1,1,"{long}"\ns2,2\n')
    with pytest.raises(ValueError, match=r"t\.csv', line 3: 2 values, but there are 3 names in line 1"):
        load_views(path)


@examples(40)
@given(
    st.lists(st.sampled_from(["", "   ", "s"]), min_size=1, max_size=12),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from(["\n", "\r\n"]),
)
def test_rows_are_found_in_their_lines(tmp_path, lines, has_names, n_comments, newline):
    """Each row holds the number of its line, whatever stands between rows."""
    before = ["# words"] * n_comments + ["id,a"] * has_names
    numbered = itertools.count(1)
    text, expected = [], []
    for line in [*before, *lines, "s"]:
        number = next(numbered)
        text.append(f"s{number},{number}.5" if line == "s" else line)
        expected += [number] * (line == "s")
    values = [number + 0.5 for number in expected]
    path = tmp_path / "t.csv"
    path.write_bytes(newline.join(text).encode())
    frame, _ = read_text(path, TableOptions())
    assert frame.iloc[:, 1].tolist() == values
    assert [line_of_row(path, row, TableOptions()) for row in range(len(frame))] == expected


@pytest.mark.parametrize(
    ("lines", "decimal", "known"),
    [
        (["id;share;n", "a;3,5 %;1", "b;1,234 %;2"], ",", True),
        (["id;price", "a;1.234,50 €", "b;7 €"], ",", True),
        (["id,price,n", 'a,"$1,234.50",1', "b,$7,2"], ".", True),
        (["id,price,x", 'a,"1,234 €",0.5', 'b,"2,345 €",1.5'], ".", True),
        (["id,price", 'a,"1,234 €"', 'b,"2,345 €"'], ".", False),
        (["id,n", "a,1", "b,2"], ".", False),
        (["id,since", "a,01.02.2020", "b,03.04.2021"], ".", False),
    ],
)
def test_amounts_show_the_decimal_sign_of_a_file(tmp_path, lines, decimal, known):
    file = tmp_path / "x.csv"
    file.write_text("\n".join(lines) + "\n")
    frame, dialect = read_text(file, TableOptions())
    assert (dialect.decimal, dialect.decimal_known) == (decimal, known)
    assert frame.attrs == ({"decimal": decimal} if known else {})


def test_the_decimal_sign_of_the_user_is_known(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text('id,price\na,"1,234 €"\nb,"2,345 €"\n')
    assert read_text(file, TableOptions(decimal=","))[0].attrs == {"decimal": ","}
