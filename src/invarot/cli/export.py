"""``invarot export``: write a model's vectors or dictionary for other programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ..checks import check_choice
from ..errors import InputError
from ..files import check_target, name_path, write_file
from ..translation import load
from .app import Force, command, complete, stderr
from .mapped import name_mapped, write_mapped

FORMATS = ("vec", "npz", "dictionary")
DICTIONARY_WORDS = 20_000  # of a dictionary
BREAKS = re.compile(r"[\t\n\r]")


@command("export")
def export_command(
    model: Annotated[Path, typer.Argument(help="Folder written by invarot align.")],
    format: Annotated[
        str | None,
        typer.Option(
            help="vec, npz or dictionary [that of OUTPUT's suffix, or dictionary].", autocompletion=complete(FORMATS)
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File (- for standard output): both sides in one .npz; for vec the stem of two files.",
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option("-k", "--top", min=1, help="Translations per word in the dictionary [1].")
    ] = None,
    words: Annotated[int | None, typer.Option(min=1, help="Number of source words in the dictionary [20000].")] = None,
    force: Force = False,
) -> None:
    """Write the mapped vectors of both sides (unit length, one common space), or a dictionary of the most frequent words."""
    if format is None:
        suffix = "" if output is None else output.suffix.lstrip(".")
        format = suffix if suffix in FORMATS else "dictionary"
    check_choice(format, "--format", FORMATS)
    for name, value in (("--top", top), ("--words", words)):
        if value is not None and format != "dictionary":
            raise InputError(f"{name}: expected with --format dictionary only, got {format}; leave {name} out")
    path = output or model.with_name(model.name + (".dictionary.txt" if format == "dictionary" else "-mapped"))
    paths = [path] if format == "dictionary" else name_mapped(path, format)
    for one in paths:
        check_target(one, overwrite=force, name="--output")
    found = load(model)
    if format != "dictionary":
        for one in write_mapped(found, path, format, overwrite=force):
            stderr.print(f"wrote {one}", highlight=False)
        return
    count = lacking = left_out = 0
    with write_file(path, overwrite=force, name="--output") as stream:
        for word, bests in found.dictionary(words or DICTIONARY_WORDS, k=top or 1):
            lacking += not bests
            for best, score in bests:
                if BREAKS.search(word + best):  # cannot be told from the end of a line or of a field
                    left_out += 1
                    continue
                stream.write(f"{word}\t{best}\t{score:.4f}\n".encode("utf-8", "surrogatepass"))
                count += 1
    stderr.print(f"{count} translations in {name_path(path, 'standard output')}", highlight=False)
    if lacking:
        stderr.print(f"{lacking} words have no translation and are not in it", highlight=False)
    if left_out:
        stderr.print(f"left out {left_out} with a tab or a line break in a word", highlight=False)
