"""``invarot align-many``: bring many files of word vectors into one space."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..files import STANDARD, check_target
from ..folders import HUB, check_replaceable
from ..logs import run
from ..translation import Hub, learn_many, recipe
from ..words import read_vectors, write_vectors
from .app import EXIT_CODES, Device, Force, command, complete, escape_unsafe, print_json, stderr
from .shared import ExtraWords, MaxWords, Memory, Quiet, Seed, Summary, Unordered, count_words_to_read


@command("align-many")
def align_many_command(
    sources: Annotated[list[Path], typer.Argument(help="Two or more files of vectors; their names become the names.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write the model to.")],
    preset: Annotated[str, typer.Option(help="best or fast.", autocompletion=complete(("best", "fast")))] = "best",
    max_words: MaxWords = None,
    extra_words: ExtraWords = None,
    device: Device = None,
    memory: Memory = None,
    seed: Seed = 0,
    unordered: Unordered = False,
    jobs: Annotated[int, typer.Option(help="Pairs solved at a time; -1: one per core.")] = 1,
    mapped: Annotated[
        bool, typer.Option("--mapped", help="Also write all vectors in the common space, OUTPUT-mapped.NAME.vec.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Summary = False,
) -> None:
    """Bring many vocabularies into one space with no dictionary.

    Exit code 0: all of them; 2: bad input; 3: no two are related; 4: some are unrelated, which are named.
    """
    names = [path.name.split(".")[0] for path in sources]
    if len(sources) < 2 or len(set(names)) < len(names):
        raise InputError(f"sources: expected two or more files of different names, got {', '.join(names)}; rename them")
    if output.name == STANDARD:
        raise InputError("--output: expected a folder, got -; a model is not one stream")
    check_replaceable(output, HUB, overwrite=force)
    files = {name: output.with_name(f"{output.name}-mapped.{name}.vec") for name in names} if mapped else {}
    for path in files.values():
        check_target(path, overwrite=force, name="--mapped")
    limit = count_words_to_read(max_words, extra_words)
    vectors = {name: read_vectors(path, max_words=limit) for name, path in zip(names, sources, strict=True)}
    with run(progress=not quiet):
        hub = learn_many(
            vectors, how=recipe(preset, ordered=not unordered), rng=seed, device=device, memory=memory, keep=max_words,
            n_jobs=jobs,
        )  # fmt: skip
    hub.save(output)
    for name in hub.vectors:
        if name in files:
            placed = hub.mapped(name)
            write_vectors(files[name], placed.words, placed.vectors, format="vec", overwrite=force)
    summarise(hub, output, quiet=quiet, as_json=as_json)
    word = "failed" if not hub.vectors else "doubtful" if hub.unrelated else "aligned"
    raise typer.Exit(EXIT_CODES[word])


def summarise(hub: Hub, output: Path, *, quiet: bool, as_json: bool) -> None:
    """Print the verdict of every pair, and what is unrelated."""
    if as_json:
        print_json({
            "model": str(output), "spaces": list(hub.vectors), "unrelated": list(hub.unrelated),
            "pairs": [{"first": one.first, "second": one.second, "direct": one.direct, "verdict": one.verdict.as_dict()}
                      for one in hub.pairs],
        })  # fmt: skip
    elif not quiet:
        for one in hub.pairs:
            through = "" if one.direct else " (through the others)"
            stderr.print(
                escape_unsafe(f"{one.first}–{one.second}: {one.verdict.word} ({one.verdict.probability:.2f}){through}"),
                highlight=False,
            )
        for name in hub.unrelated:
            stderr.print(escape_unsafe(f"{name}: unrelated to the others"), highlight=False)
        stderr.print(f"{len(hub.vectors)} vocabularies in one space; model in {output}", highlight=False)
