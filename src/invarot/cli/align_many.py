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


@command("align-many")
def align_many_command(
    sources: Annotated[list[Path], typer.Argument(help="Two or more files of vectors; their names become the names.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write the model to.")],
    preset: Annotated[str, typer.Option(help="best or fast.", autocompletion=complete(("best", "fast")))] = "best",
    max_words: Annotated[
        int | None, typer.Option(min=10, help="Keep only the first N words of each file in the model.")
    ] = None,
    extra_words: Annotated[
        int | None, typer.Option(min=0, help="Further words, used for the fit only [1.5 times --max-words].")
    ] = None,
    device: Device = None,
    memory: Annotated[str | None, typer.Option(help='Memory limit of the plan step, such as "4GiB".')] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed: same seed, same result.")] = 0,
    unordered: Annotated[bool, typer.Option("--unordered", help="Rows are not sorted by frequency.")] = False,
    jobs: Annotated[int, typer.Option(help="Pairs solved at a time; -1: one per core.")] = 1,
    mapped: Annotated[
        bool, typer.Option("--mapped", help="Also write all vectors in the common space, OUTPUT-mapped.NAME.vec.")
    ] = False,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no summary.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Bring many vocabularies into one space with no dictionary.

    Exit code 0: all of them; 2: bad input; 3: no two are related; 4: some are unrelated, which are named.
    """
    names = [path.name.split(".")[0] for path in sources]
    if len(sources) < 2 or len(set(names)) < len(names):
        raise InputError(f"sources: expected two or more files of different names, got {', '.join(names)}; rename them")
    if output.name == STANDARD:
        raise InputError("--output: expected a folder, got -; a model is not one stream")
    if extra_words is not None and max_words is None:
        raise InputError("--extra-words: expected together with --max-words, got it alone; all words are read and kept")
    check_replaceable(output, HUB, overwrite=force)
    files = {name: output.with_name(f"{output.name}-mapped.{name}.vec") for name in names} if mapped else {}
    for path in files.values():
        check_target(path, overwrite=force, name="--mapped")
    limit = None if max_words is None else max_words + (3 * max_words // 2 if extra_words is None else extra_words)
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
