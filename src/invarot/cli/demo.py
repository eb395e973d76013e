"""``invarot demo``: learn a translation from the data included in the package."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ..files import check_target
from ..folders import TRANSLATION, check_replaceable
from ..translation import learn
from ..words import load_core_pair
from .app import EXIT_CODES, Force, command, print_json, print_verdict, stdout
from .shared import Json, Report, Seed

SHOWN = ("house", "freedom", "water", "friday", "doctor", "green", "children", "war")


@command("demo")
def demo_command(
    seed: Seed = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder to write the model to.")] = None,
    report: Report = None,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress bar.")] = False,
    as_json: Json = False,
) -> None:
    """Learn English–Spanish from 5,000 vectors per side with no dictionary, then score it with a hand-written one."""
    if output is not None:
        check_replaceable(output, TRANSLATION, overwrite=force)
    if report is not None:
        check_target(report, overwrite=force, name="--report")
    english, spanish, gold = load_core_pair()
    start = time.perf_counter()
    model = learn(english, spanish, rng=seed, dictionary=gold if report else None, progress=not (quiet or as_json))
    seconds = time.perf_counter() - start
    scores = model.evaluate(gold)
    if output is not None:
        model.save(output)
    if report is not None:
        from ..report.page import write_page

        write_page(model, report, dictionary=gold, overwrite=force)
    known = english.index()
    examples = model.translate([word for word in SHOWN if word in known], k=3)
    if as_json:
        steps = [step.as_dict() for step in model.steps]
        print_json({"verdict": model.verdict.as_dict(), "seconds": seconds, "steps": steps, **scores})
    else:
        stdout.print(
            f"{len(english)} English and {len(spanish)} Spanish words, nothing paired; solved in {seconds:.1f} s"
        )
        print_verdict(model.verdict, stdout)
        for word, best in examples.items():
            stdout.print(f"  {word:<10} → " + ", ".join(f"{one} ({score:.2f})" for one, score in best), highlight=False)
        stdout.print(f"{scores['precision@1']:.0%} right at 1 and {scores['precision@5']:.0%} at 5 of {scores['queries']} "
                     "everyday words (hand-written list)", highlight=False)  # fmt: skip
    raise typer.Exit(EXIT_CODES[model.verdict.word])
