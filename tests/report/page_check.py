"""Reads a page back as a browser would, and finds what a screen reader would trip over."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

VOID = {"meta", "link", "input", "br", "img"}
IMPLIED = {"td", "th", "tr"}  # their end tags may be left out


@dataclass
class Node:
    tag: str
    attributes: dict[str, str | None]
    parent: Node | None
    children: list[Any] = field(default_factory=list)

    def walk(self) -> list[Node]:
        return [self] + [one for child in self.children if isinstance(child, Node) for one in child.walk()]

    def all(self, tag: str) -> list[Node]:
        return [node for node in self.walk() if node.tag == tag]

    def get(self, name: str) -> str:
        return self.attributes.get(name) or ""

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.here = Node("#", {}, None)
        self.problems: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in IMPLIED:
            closes = {"tr": ("tr", "td", "th")}.get(tag, ("td", "th"))
            while self.here.tag in closes:
                self.here = self.here.parent
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.problems.append(f"<{tag}> repeats an attribute")
        node = Node(tag, dict(attrs), self.here)
        self.here.children.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Node(tag, dict(attrs), self.here))

    def handle_endtag(self, tag: str) -> None:
        while self.here.tag in IMPLIED and self.here.tag != tag:
            self.here = self.here.parent
        if self.here.tag != tag:
            self.problems.append(f"</{tag}> closes <{self.here.tag}>")
        else:
            self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def read_page(page: str) -> tuple[Node, list[str]]:
    """The tree, and what is wrong with it."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    problems = reader.problems + ([] if reader.here is reader.root else [f"<{reader.here.tag}> is never closed"])
    return reader.root, problems + trips(reader.root)


def trips(root: Node) -> list[str]:
    """What a screen reader or a keyboard would trip over."""
    nodes = root.walk()
    ids = [node.get("id") for node in nodes if "id" in node.attributes]
    wrong = [f"id {one!r} is used twice" for one in sorted({one for one in ids if ids.count(one) > 1})]
    for node in nodes:
        for name in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
            wrong += [f"{name}={one!r} names nothing" for one in node.get(name).split() if one not in ids]
        if node.tag == "a" and node.get("href").startswith("#") and node.get("href")[1:] not in ids:
            wrong.append(f"link {node.get('href')} leads nowhere")
        if any(name.startswith("on") for name in node.attributes):
            wrong.append(f"<{node.tag}> has an inline handler")
    labelled = {node.get("for") for node in root.all("label") if node.text.strip()}
    wrong += [f"input {node.get('id')!r} has no label" for node in root.all("input") if node.get("id") not in labelled]
    wrong += ["a button has no name" for node in root.all("button") if not node.text.strip()]
    for node in root.all("svg"):
        own = [child.tag for child in node.children if isinstance(child, Node)]
        if node.get("role") != "img" or own[:2] != ["title", "desc"] or not node.get("aria-labelledby"):
            wrong.append(f"svg {node.get('id')!r} has no text beside it")
    for node in root.all("table"):
        if not node.all("caption") or not all(cell.get("scope") for cell in node.all("th")):
            wrong.append("a table lacks a caption, or a heading cell its scope")
    levels = [int(node.tag[1]) for node in nodes if node.tag in ("h1", "h2", "h3", "h4")]
    if levels[:1] != [1] or levels.count(1) != 1 or any(b > a + 1 for a, b in pairwise(levels)):
        wrong.append(f"headings out of order: {levels}")
    wrong += [f"{len(root.all(tag))} <{tag}>" for tag in ("main", "header", "nav", "footer") if len(root.all(tag)) != 1]
    return wrong
