import csv
import io
import re
from html.parser import HTMLParser

import pytest

from latefusion.tables import RENDERERS, Entry, Table, format_table

NASTY = ["a|b", "<script>alert('x')</script> & \"y\"", "50 % _of_ #1 {x} \\cmd ~ ^ $", "plain, with; commas"]
TABLE = Table(
    "Title <b>",
    ["method", "ACC", "note"],
    [
        [Entry(text), Entry(f"{row}.5", mark), Entry(text, mark)]
        for row, (text, mark) in enumerate(zip(NASTY, ["", "equal", "best", ""], strict=True))
    ],
    ["A note with | and <i>."],
)


def test_columns_line_up():
    text = format_table(["name", "x"], [["a", "1"], ["longer name", "22.5"]])
    assert text.splitlines() == ["name            x", "-----------  ----", "a               1", "longer name  22.5"]


def test_words_stand_left_and_numbers_right():
    rows = [["a", "why not", "-1.5"], ["b", "so", "–"]]
    assert format_table(["x", "reason", "y"], rows).splitlines()[2:] == ["a  why not  -1.5", "b  so          –"]
    table = Table("t", ["x", "reason", "y"], [[Entry(word) for word in row] for row in rows], [])
    assert "| --- | --- | ---: |" in table.render("markdown")
    assert table.render("html").count("<td class='words'>") == 4


def test_header_alone():
    assert format_table(["a", "b"], []) == "a  b\n-  -"


class Cells(HTMLParser):
    """The texts of all cells of a page, and the tags in it."""

    def __init__(self):
        super().__init__()
        self.cells, self.tags, self.open = [], set(), False

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")
            self.open = True

    def handle_endtag(self, tag):
        self.open = self.open and tag not in ("td", "th")

    def handle_data(self, data):
        if self.open:
            self.cells[-1] += data


def flat():
    return [*TABLE.header, *[entry.text for row in TABLE.rows for entry in row]]


def test_html_gives_every_text_back_and_nothing_runs():
    reader = Cells()
    reader.feed(TABLE.render("html"))
    assert reader.cells == flat()
    assert reader.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "u", "p"}


def test_csv_gives_texts_and_marks_back():
    rows = list(csv.reader(io.StringIO(TABLE.render("csv"))))
    assert rows[0] == ["method", "ACC", "ACC mark", "note", "note mark"]
    assert rows[1:] == [[row[0].text, *row[1], *row[2]] for row in TABLE.rows]
    unmarked = Table("", ["a", "b"], [[Entry("1"), Entry("2")]], [])
    assert unmarked.render("csv") == "a,b\n1,2\n"


def test_markdown_gives_every_text_back():
    lines = [line for line in TABLE.render("markdown").splitlines() if line.startswith("| ")]
    found = []
    for line in [lines[0], *lines[2:]]:
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        plain = [re.sub(r"^\*\*(?:<u>)?|(?:</u>)?\*\*$", "", cell.strip()) for cell in cells]
        found += [re.sub(r"\\(.)", r"\1", cell) for cell in plain]
    assert found == flat()


def test_latex_leaves_no_sign_that_means_something():
    body = TABLE.render("latex").split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert len(body.strip().splitlines()) == len(TABLE.rows)
    assert body.count("&") - body.count(r"\&") == 2 * len(TABLE.rows)
    for sign in "%#$_":
        assert len(re.findall(rf"(?<!\\){re.escape(sign)}", body)) == 0
    assert r"\underline{\textbf{2.5}}" in body
    assert r"\textbf{1.5}" in body


def test_text_shows_marks_as_stars():
    lines = TABLE.render("text").splitlines()
    assert lines[0] == TABLE.title
    assert [line.count("*") for line in lines[4:8]] == [0, 2, 4, 0]


@pytest.mark.parametrize("style", RENDERERS)
def test_a_table_without_rows_is_still_one(style):
    text = Table("t", ["a", "b"], [], []).render(style)
    assert "a" in text
    assert text.endswith("\n")
