"""``invarot evaluate``: score a model against a dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..translation import load_translation
from .app import app, print_json


@app.command("evaluate")
def evaluate_command(
    model: Annotated[Path, typer.Argument(help="Folder written by invarot align.")],
    dictionary: Annotated[Path, typer.Option(help="Lines of 'source target'.")],
    retrieval: Annotated[str, typer.Option(help="csls, cosine or softmax.")] = "csls",
    reverse: Annotated[
        bool, typer.Option("--reverse", help="The dictionary goes from the target to the source.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on stdout.")] = False,
) -> None:
    """Precision at 1, 5 and 10, mean reciprocal rank and coverage.

    Queries are the dictionary's source words that are in the vocabulary with at least one translation; any listed
    translation is a hit.
    """
    scores = load_translation(model).evaluate(dictionary, method=retrieval, reverse=reverse)
    if as_json:
        print_json(scores)
        return
    for name, value in scores.items():
        print(f"{name:<13} {value:.4f}" if isinstance(value, float) else f"{name:<13} {value}")
