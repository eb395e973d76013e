"""``invarot translate``: translate words with a model."""

from __future__ import annotations

import sys
from collections.abc import Container
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..files import STANDARD
from ..translation import load
from .app import Retrieval, command, escape_unsafe, print_json, print_line, stderr
from .shared import Json


@command("translate")
def translate_command(
    model: Annotated[Path, typer.Argument(help="Folder written by invarot align.")],
    words: Annotated[
        list[str] | None, typer.Argument(help="Words to translate; read from standard input if none are given, or -.")
    ] = None,
    top: Annotated[int, typer.Option("-k", "--top", min=1, help="Translations per word.")] = 5,
    reverse: Annotated[bool, typer.Option("--reverse", help="From the target language to the source.")] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Also translate words that have no translation (models with an overlap).")
    ] = False,
    retrieval: Retrieval = "csls",
    as_json: Json = False,
) -> None:
    """Translate words and print scores, best first. Words not in the vocabulary are named and skipped; words without a translation are marked."""
    found = load(model)
    asked = list(words) if words and words != [STANDARD] else _read_words()
    if not asked:
        raise InputError(
            "words: expected at least one, as arguments or one per line on standard input, got none; pass a word"
        )
    known = (found.target if reverse else found.source).index()
    asked = [_find_case(word, known) for word in asked]
    missing = [word for word in asked if word not in known]
    if missing:
        stderr.print(f"not in the vocabulary: {escape_unsafe(', '.join(missing))}", highlight=False)
    if len(missing) == len(asked):
        raise typer.Exit(2)
    if every and found.overlap is None:
        stderr.print("--all: no effect, since the model was learned without an overlap", highlight=False)
    answers = found.translate(
        [word for word in asked if word in known], k=top, method=retrieval, reverse=reverse, all=every
    )
    if as_json:
        print_json(
            {word: [{"word": one, "score": round(score, 4)} for one, score in best] for word, best in answers.items()}
        )
    else:
        for word, best in answers.items():
            shown = "  ".join(f"{one} {score:.2f}" for one, score in best) if best else "(no translation)"
            print_line(f"{word}\t{shown}")


def _find_case(word: str, known: Container[str]) -> str:
    """Return the word as the vocabulary writes it: in lower case, capitals or with a capital, if not as it is."""
    if word in known:
        return word
    for other in (word.lower(), word.capitalize(), word.upper()):
        if other in known:
            stderr.print(f"{escape_unsafe(word)}: not in the vocabulary, {escape_unsafe(other)} is", highlight=False)
            return other
    return word


def _read_words() -> list[str]:
    """Return the lines of standard input, whatever bytes they are."""
    lines = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").split("\n")
    return [line.strip() for line in lines if line.strip()]
