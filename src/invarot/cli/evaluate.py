"""``invarot evaluate``: score a model against a dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..translation import load
from .app import Retrieval, command, print_json, stderr
from .shared import Json

LOW_COVERAGE = 0.1  # coverage below which the dictionary is probably for other languages


@command("evaluate")
def evaluate_command(
    model: Annotated[Path, typer.Argument(help="Folder written by invarot align.")],
    dictionary: Annotated[Path, typer.Option(help="Dictionary file, one 'source target' per line.")],
    retrieval: Retrieval = "csls",
    reverse: Annotated[bool, typer.Option("--reverse", help="The dictionary is from target to source.")] = False,
    as_json: Json = False,
) -> None:
    """Score a model against a dictionary: precision at 1, 5 and 10, mean reciprocal rank, coverage.

    Queries are the dictionary's source words that are in the vocabulary with at least one translation; any listed
    translation is a hit.
    """
    scores = load(model).evaluate(dictionary, method=retrieval, reverse=reverse)
    if scores["coverage"] < LOW_COVERAGE:
        stderr.print(
            f"only {scores['coverage']:.1%} of the dictionary's source words have a translation in the vocabularies: check "
            "its direction (--reverse)",
            highlight=False,
        )
    if as_json:
        print_json(scores)
        return
    for name, value in scores.items():
        print(f"{name:<13} {value:.4f}" if isinstance(value, float) else f"{name:<13} {value}")
