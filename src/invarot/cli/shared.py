"""Options that several commands have, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError

MaxWords = Annotated[int | None, typer.Option(min=10, help="Keep only the first N words of each file in the model.")]
ExtraWords = Annotated[
    int | None, typer.Option(min=0, help="Further words, used for the fit only [1.5 times --max-words].")
]
Memory = Annotated[str | None, typer.Option(help='Memory limit of the plan step, such as "4GiB".')]
Seed = Annotated[int, typer.Option(min=0, help="Random seed: same seed, same result.")]
Unordered = Annotated[bool, typer.Option("--unordered", help="Rows are not sorted by frequency.")]
Report = Annotated[Path | None, typer.Option(help="Also write an HTML report (one self-contained file).")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no summary.")]
Summary = Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout.")]


def count_words_to_read(max_words: int | None, extra_words: int | None) -> int | None:
    """Return how many words of a file are read, for the model and for the fit; None: all."""
    if max_words is None:
        if extra_words is not None:
            raise InputError(
                "--extra-words: expected together with --max-words, got it alone; without --max-words all words are read and kept"
            )
        return None
    return max_words + (3 * max_words // 2 if extra_words is None else extra_words)
