import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.report.markup import FORBIDDEN, Html, element, escape, join, json_block
from tests.properties import examples

NASTY = [
    "<script>alert(1)</script>",
    "</script><!--",
    "\" onload='x'",
    "a & b",
    "\u2028\u2029",
    "]]>",
    "\x00\x1b",
    "\ud800",
]


class Reader(HTMLParser):
    """Collects what a browser would make of some HTML."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))

    def handle_data(self, data):
        self.text += data


@examples(60)
@given(st.text())
@pytest.mark.parametrize("place", ["text", "attribute"])
def test_any_text_arrives_as_it_is_and_makes_no_element(place, text):
    clean = FORBIDDEN.sub("\ufffd", text)
    page = Reader(element("p", text) if place == "text" else element("p", title=text))
    assert [tag for tag, _ in page.tags] == ["p"]
    # HTML reads a carriage return as a line break
    found = page.text if place == "text" else page.tags[0][1][0][1]
    assert found.replace("\r", "\n") == clean.replace("\r", "\n")


@pytest.mark.parametrize("text", NASTY)
def test_nasty_text_can_be_written_to_a_file(text):
    assert "<script" not in escape(text)
    escape(text).encode("utf-8")


@examples(60)
@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.dictionaries(st.text(), inner) | st.lists(inner)
    )
)
def test_json_comes_back_and_cannot_end_its_element(data):
    text = json_block(data)
    assert json.loads(text) == data
    assert text.isascii()
    assert not set("<>&") & set(text)


@pytest.mark.parametrize("text", NASTY)
def test_json_of_nasty_text(text):
    assert json.loads(json_block([text])) == [text]
    assert "</" not in json_block([text])


def test_html_is_not_escaped_twice():
    inner = element("b", "1 < 2")
    assert element("p", inner) == "<p><b>1 &lt; 2</b></p>"
    assert isinstance(inner, Html)


def test_attributes():
    assert element("input", type="text", disabled=True, hidden=False, id=None) == '<input type="text" disabled>'
    assert element("p", class_="a", data_place=3) == '<p class="a" data-place="3"></p>'


def test_children_are_flattened_and_none_is_left_out():
    assert join(["a", None, [Html("<br>"), ["<"]]]) == "a<br>&lt;"


def test_json_refuses_numbers_that_javascript_cannot_read():
    with pytest.raises(ValueError, match="JSON"):
        json_block([float("nan")])
