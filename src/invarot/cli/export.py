"""``invarot export``: write a model's vectors or dictionary for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..checks import check_choice
from ..translation import Translation, load
from ..words import write_vectors
from ..words.writers import write_atomically
from .app import app, stderr

FORMATS = ("vec", "npz", "dictionary")


@app.command("export")
def export_command(
    model: Annotated[Path, typer.Argument(help="Folder written by invarot align.")],
    format: Annotated[str, typer.Option(help="vec, npz or dictionary.")] = "dictionary",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File, or stem of the two vector files.")
    ] = None,
    top: Annotated[int, typer.Option("-k", "--top", min=1, help="Translations per word in the dictionary.")] = 1,
    words: Annotated[int, typer.Option(min=1, help="Number of source words in the dictionary.")] = 20_000,
) -> None:
    """Write the mapped vectors of both sides (unit length, one common space), or a dictionary of the most frequent words."""
    check_choice(format, "format", FORMATS)
    found = load(model)
    if format == "dictionary":
        path = output or model.with_name(model.name + ".dictionary.txt")
        lines = [
            f"{word}\t{best}\t{score:.4f}\n" for word, bests in found.dictionary(words, k=top) for best, score in bests
        ]
        with write_atomically(path) as stream:
            stream.write("".join(lines).encode("utf-8", "surrogatepass"))
        stderr.print(f"{len(lines)} translations in {path}", highlight=False)
    else:
        for path in write_mapped(found, output or model.with_name(model.name + "-mapped"), format):
            stderr.print(f"wrote {path}", highlight=False)


def write_mapped(model: Translation, stem: Path, format: str) -> list[Path]:
    """Write both sides in the common space: STEM.source.vec and STEM.target.vec."""
    paths = []
    for name, side in zip(("source", "target"), model.mapped(), strict=True):
        path = stem.with_name(f"{stem.name}.{name}.{format}")
        write_vectors(path, side.words, side.vectors, format=format)
        paths.append(path)
    return paths
