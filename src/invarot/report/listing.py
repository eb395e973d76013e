"""The table of translations, and the settings and versions behind them."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .contents import SEARCHED, Contents, Row
from .markup import count, fold, minus, number, section, text, word_markup

SORTED_BY = (("rank", "Rank"), ("word", "Word"), ("best", "Translation"), ("score", "Score"))
OTHERS = ("Second", "Third")
RIGHT = '<span class="right" role="img" aria-label="in the dictionary" title="in the dictionary">✓</span>'
NAMES = {
    "name": "preset",
    "rng": "seed",
    "p": "exponent p",
    "ordered": "most frequent first",
    "rounds": "rounds of refinement",
    "spelling": "weight of spelling",
}


def translations_section(contents: Contents) -> str:
    """Return the table, complete without scripts; search and sorting need them."""
    rows, total = contents.rows, len(contents.model.source)
    width = max((len(row.best) for row in rows), default=0)
    which = "All" if len(rows) == total else f"The first {count(len(rows))} of"
    lead = f"{which} {count(total)} source words, each with its best translations and their CSLS scores (larger is better)."
    if max(total, len(contents.model.target)) > SEARCHED:
        lead += f" The search was limited to the first {count(SEARCHED)} words of each side."
    lacking = len(contents.model.find_untranslated())
    if lacking:
        lead += f" {count(lacking)} of all have no translation."
    if contents.scores is not None:
        lead += f" {RIGHT} marks a translation in the dictionary."
    if not contents.model.verdict:
        word = contents.model.verdict.word
        lead += f" <strong>The verdict is {word}: expect these translations to be wrong.</strong>"
    heads = "".join(
        f'<th scope="col" aria-sort="{"ascending" if key == "rank" else "none"}">'
        f'<button type="button" data-key="{key}">{label}</button></th>'
        for key, label in SORTED_BY
    )
    heads += "".join(f'<th scope="col">{name} best</th>' for name in OTHERS[: max(width - 1, 0)])
    body = "".join(_row(row, width) for row in rows)
    search = (
        '<form role="search" class="search" hidden><label for="query">Find a word, in either language</label>'
        '<input id="query" type="search" autocomplete="off" autocapitalize="none" spellcheck="false" '
        'aria-controls="words" aria-describedby="found"><p id="found" role="status"></p></form>'
    )
    table = (
        '<div class="box tall" role="region" tabindex="0" aria-labelledby="words-caption"><table id="words" '
        'aria-describedby="table-note"><caption id="words-caption">Translations found</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    return section("translations", "Translations", f'<p id="table-note">{lead}</p>{search}{table}')


def _row(row: Row, width: int) -> str:
    """Return a row without end tags of cells and rows, as HTML allows: they would be a third of the table."""
    start = f'<tr><td>{row.rank}<th scope="row">{word_markup(row.word)}<td>'
    if not row.best:
        return f"{start}<small>no translation</small>" + "<td>" * max(width, 1)
    (best, score), others = row.best[0], row.best[1:]
    cells = "".join(f"<td>{_mark_listed(word, row)} <small>{minus(f'{s:.2f}')}</small>" for word, s in others)
    cells += "<td>" * (width - len(row.best))
    return f"{start}{_mark_listed(best, row)}<td>{minus(f'{score:.3f}')}{cells}"


def _mark_listed(word: str, row: Row) -> str:
    return word_markup(word) + (" " + RIGHT if word in row.right else "")


def settings_section(contents: Contents) -> str:
    """Return the input files, settings, steps and versions."""
    model = contents.model
    sides = [
        (name, f"{side.source}: {count(len(side))} words, {side.dimension} dimensions")
        for name, side in (("source", model.source), ("target", model.target))
    ]
    given = [
        (NAMES.get(name, name.replace("_", " ")), to_text(value))
        for name, value in {**model.recipe.as_dict(), **model.settings}.items()
    ]
    body = f"<div><h3>Steps</h3>{facts((step.name, step.status) for step in model.steps)}</div>"
    body += f"<div><h3>Settings</h3>{facts([*sides, *given])}</div>"
    body += f"<div><h3>Versions that wrote this page</h3>{facts(find_versions())}</div>"
    remarks = "".join(f"<li>{text(one)}</li>" for side in (model.source, model.target) for one in side.warnings)
    if remarks:
        remarks = f"<h3>Warnings while reading</h3><ul>{remarks}</ul>"
    return fold("settings", "Settings and versions", f'<div class="facts">{body}</div>{remarks}')


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    inside = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="pairs card">{inside}</dl>'


def to_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {to_text(one)}" for key, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(to_text(one) for one in value)
    if value is None or isinstance(value, bool):
        return "not set" if value is None else "yes" if value else "no"
    return number(value, 6)


def find_versions() -> list[tuple[str, str]]:
    found = []
    for name in ("invarot", "numpy", "scipy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed as a package"))
    return [*found, ("Python", platform.python_version()), ("system", f"{platform.system()} {platform.machine()}")]
