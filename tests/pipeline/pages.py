"""Pages of a report, read by a strict parser."""

from __future__ import annotations

import re

import html5lib

ODD = """\
name = "Odd <b>names</b> & Six by Four"
[deck]
faces = ["9", "T", "J", "Q", "K", "A"]
[[win]]
name = "flush & <i>"
when = "some(a,b,c,d,e: same(aS,bS,cS,dS,eS))"
[[win]]
name = "three of a kind"
when = "some(a,b,c: same(aF,bF,cF))"
[[win]]
name = "pair of aces"
when = "some(a,b: same(aF,bF){A})"
[[bonus]]
name = "four aces"
when = "some(a,b,c,d: same(aF,bF,cF,dF){A})"
[paytable."a <b> & c"]
source = "<script>alert(1)</script>"
coins = 2
[paytable."a <b> & c".pays]
"flush & <i>" = 20
"three of a kind" = "10/3"
"pair of aces" = 2
[paytable."a <b> & c".on_deal]
"flush & <i>" = 30
[paytable."a <b> & c".deal_bonus]
"four aces" = 100
"""
"""Markup in every name, a bonus of the deal, and a pay for hands held as dealt; it is played nowhere."""


def parsed(page):
    """The document; raises `html5lib.html5parser.ParseError` for anything that is not valid syntax."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def text_of(element):
    """All text of an element, with single spaces."""
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def children(element):
    """The words of every element, and its text, both without thousands separators."""
    for inner in element.iter():
        if isinstance(inner.tag, str):
            text = re.sub(r"(?<=\d),(?=\d)", "", text_of(inner))
            yield text
            yield from (word.strip("().,;") for word in text.split(" "))


def cells(document, caption):
    """The rows of the body and of the foot of the table whose caption has this id, as text without separators."""
    (table,) = [t for t in document.iter("table") if t.find("caption").get("id") == caption]

    def rows(part):
        found = []
        for row in part.iter("tr") if part is not None else ():
            found.append([re.sub(r"(?<=\d),(?=\d)", "", text_of(cell)) for cell in row if cell.tag in ("td", "th")])
        return found

    return rows(table.find("tbody")), rows(table.find("tfoot"))
