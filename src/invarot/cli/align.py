"""``invarot align``: learn a translation from two files of word vectors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ..distributed.files import started_by_torchrun
from ..errors import InputError
from ..files import STANDARD, check_target, find_descriptor
from ..folders import TRANSLATION, check_replaceable
from ..translation import Translation, learn, recipe
from ..translation.recipe import PRESETS
from ..words import read_dictionary, read_vectors
from ..words.spelling import SPELLING_WEIGHT
from .app import (
    EXIT_CODES,
    Device,
    Effort,
    Force,
    command,
    complete,
    escape_unsafe,
    parse_overlap,
    print_json,
    print_verdict,
    stderr,
)
from .mapped import name_mapped, write_mapped
from .shared import ExtraWords, MaxWords, Memory, Quiet, Report, Seed, Summary, Unordered, count_words_to_read


@command("align")
def align_command(
    source: Annotated[
        Path, typer.Argument(help="Vectors to translate from: .vec .txt .gz .bin .npz .npy .safetensors, or -")
    ],
    target: Annotated[Path, typer.Argument(help="Vectors to translate into.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write the model to.")],
    preset: Annotated[str, typer.Option(help=f"{', '.join(PRESETS)}.", autocompletion=complete(PRESETS))] = "best",
    seeds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Known pairs, one 'source target' per line: they start the solve."),
    ] = None,
    effort: Effort = None,
    max_words: MaxWords = None,
    extra_words: ExtraWords = None,
    p: Annotated[float | None, typer.Option(help="Schatten exponent of the map, 1 to inf.")] = None,
    overlap: Annotated[
        str | None,
        typer.Option(
            help="Words may have no translation: auto, or the share of the source words that have one, such as 0.6."
        ),
    ] = None,
    device: Device = None,
    memory: Memory = None,
    seed: Seed = 0,
    unordered: Unordered = False,
    spelling: Annotated[
        bool,
        typer.Option(
            "--spelling",
            help="Use the spelling of words as well as their vectors. Only applied to languages that share an alphabet.",
        ),
    ] = False,
    report: Report = None,
    dictionary: Annotated[Path | None, typer.Option(help="Score against this dictionary in the report.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder to save progress in; a run that was stopped resumes from it.")
    ] = None,
    mapped: Annotated[
        bool, typer.Option("--mapped", help="Also write the mapped vectors of both sides (.vec).")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Summary = False,
) -> None:
    """Learn to translate between two vocabularies with no dictionary.

    Under torchrun, align two files of vectors (.npy .safetensors .parquet …) over its ranks; each writes its part.

    Exit code 0: the verdict is *aligned* or *coarse*; 2: bad input; 3: *failed*; 4: *doubtful* (the model is still written).
    """
    if started_by_torchrun():
        unused = {
            "--preset": preset != "best", "--seeds": seeds, "--effort": effort, "--max-words": max_words,
            "--extra-words": extra_words is not None, "--overlap": overlap, "--spelling": spelling, "--report": report,
            "--dictionary": dictionary, "--checkpoint": checkpoint, "--mapped": mapped,
        }  # fmt: skip
        align_ranks(
            source, target, output, [name for name, value in unused.items() if value], p=p, device=device,
            memory=memory, seed=seed, unordered=unordered, force=force, quiet=quiet, as_json=as_json,
        )  # fmt: skip
    stem = output.with_name(output.name + "-mapped")
    extra = name_mapped(stem, "vec") if mapped else []
    _check_paths(source, target, output, extra, report, overwrite=force, as_json=as_json)
    if dictionary is not None and report is None:
        raise InputError(
            "--dictionary: expected together with --report, got it alone; to score a model use: invarot evaluate"
        )
    listed = None if dictionary is None else read_dictionary(dictionary)
    known = None if seeds is None else read_dictionary(seeds)
    changes: dict[str, Any] = {name: value for name, value in (("p", p), ("effort", effort)) if value is not None}
    if overlap is not None:
        changes["overlap"] = parse_overlap(overlap)
    how = recipe(preset, ordered=not unordered, spelling=SPELLING_WEIGHT if spelling else 0.0, **changes)
    limit = count_words_to_read(max_words, extra_words)
    left = read_vectors(source, max_words=limit)
    right = read_vectors(target, max_words=limit)
    model = learn(
        left, right, how=how, seeds=known, rng=seed, device=device, memory=memory, keep=max_words, dictionary=listed,
        checkpoint=checkpoint, progress=not quiet,
    )  # fmt: skip
    model.save(output)
    if mapped:
        write_mapped(model, stem, "vec", overwrite=force)
    if report is not None:
        write_report(model, report, listed, force)
    summarise(model, output, quiet=quiet, as_json=as_json)
    raise typer.Exit(EXIT_CODES[model.verdict.word])


def align_ranks(
    source: Path, target: Path, output: Path, unused: list[str], *, p: float | None, device: str | None,
    memory: str | None, seed: int, unordered: bool, force: bool, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    """Under torchrun: align vectors without words, the rows of the source cut over the ranks."""
    from ..distributed.files import align_files

    if unused:
        raise InputError(
            f"{unused[0]}: expected none under torchrun, which aligns vectors without words, got one; leave it out"
        )
    result, folder, rank = align_files(
        source, target, output, device=device, memory=memory, rng=seed, p=math.inf if p is None else p,
        ordered=not unordered, overwrite=force,
    )  # fmt: skip
    if rank == 0 and as_json:
        print_json({"verdict": result.verdict.as_dict(), "objective": result.objective, "parts": str(folder.parent)})
    elif rank == 0 and not quiet:
        print_verdict(result.verdict, stderr)
        stderr.print(f"one part per rank in {folder.parent}", highlight=False)
    raise typer.Exit(EXIT_CODES[result.verdict.word])


def _check_paths(
    source: Path, target: Path, output: Path, extra: list[Path], report: Path | None, *, overwrite: bool, as_json: bool
) -> None:
    """Raise, before anything is read or solved, if something could not be read or written at the end."""
    if find_descriptor(source, 0) is not None and find_descriptor(source, 0) == find_descriptor(target, 0):
        raise InputError("source, target: expected at most one of them from standard input, got both; name a file")
    if output.name == STANDARD:
        raise InputError("--output: expected a folder, got -; a model is not one stream")
    check_replaceable(output, TRANSLATION, overwrite=overwrite)
    for path in extra:
        check_target(path, overwrite=overwrite, name="--mapped")
    if report is not None:
        check_target(report, overwrite=overwrite, name="--report")
        if as_json and find_descriptor(report, 1) == 1:
            raise InputError(
                "--report: expected a file with --json, got standard output for both; leave one of them out"
            )


def write_report(model: Translation, path: Path, dictionary: list[tuple[str, str]] | None, overwrite: bool) -> None:
    from ..report.page import write_page

    write_page(model, path, dictionary=dictionary, overwrite=overwrite)


def summarise(model: Translation, output: Path, *, quiet: bool, as_json: bool) -> None:
    """Print the verdict, the steps (also those that were not applied) and the path of the model."""
    if as_json:
        print_json(
            {
                "model": str(output),
                "verdict": model.verdict.as_dict(),
                "words": [len(model.source), len(model.target)],
                "overlap": model.overlap,
                "untranslated": [len(model.find_untranslated(reverse=back)) for back in (False, True)],
                "steps": [step.as_dict() for step in model.steps],
            }
        )
    elif not quiet:
        print_verdict(model.verdict, stderr)
        if model.overlap is not None:
            lacking = [len(model.find_untranslated(reverse=back)) for back in (False, True)]
            stderr.print(
                "overlap: {:.0%} of the source words and {:.0%} of the target words have a translation; "
                "{:,} and {:,} have none".format(*model.overlap, *lacking), highlight=False
            )  # fmt: skip
        done = ", ".join(f"{step.name} {step.seconds:.1f} s" for step in model.steps if step.applied)
        stderr.print(f"steps: {done}", highlight=False)
        for step in model.steps:
            if not step.applied:
                stderr.print(f"  · {escape_unsafe(str(step))}", highlight=False)
        stderr.print(f"{len(model.source)} × {len(model.target)} words; model in {output}", highlight=False)
