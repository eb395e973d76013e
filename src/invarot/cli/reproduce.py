"""``invarot reproduce``: reproduce a figure or table of the paper, and check its claim."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..experiments import NAMES, Context, find, reproduce
from ..experiments.verdicts import write_verdicts
from .app import command, stderr

FULL, QUICK = "results/reproduce", "results/reproduce-quick"  # a quick run does not replace hours of work
HELP = f"""Run an experiment of the paper, write its data and figure, and judge its claims.

{chr(10).join(f"- `{name}`: {text}" for name, text in NAMES.items())}
- `all`: all of them, one after the other

A run writes data.csv, figure.png, figure.svg and manifest.json (`words` also summary.csv: means and standard
deviations over seeds). verdicts.md in the parent folder lists every claim with its evidence and verdict. A run that was
stopped resumes where it stopped."""


@command("reproduce", help=HELP)
def reproduce_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of the names above, or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="A small version that takes at most a minute.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed: same seed, same numbers.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Parent folder; results go to a folder NAME inside it.",
            show_default=f"{FULL}, with --quick {QUICK}",
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Europarl vectors and dictionaries (europarl100/, muse/).")] = None,
    muse: Annotated[Path | None, typer.Option(help="MUSE's own files (wiki.XX.vec, dictionaries/).")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Run only cells whose name contains this; may be repeated.")
    ] = None,
    redraw: Annotated[bool, typer.Option("--redraw", help="Run nothing: draw and judge what is stored.")] = False,
) -> None:
    """Run an experiment of the paper."""
    if quick:  # small problems: torch reads this when the adversarial baseline first imports it
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    command = shlex.join(["invarot", *sys.argv[1:]])
    out = Path(QUICK if quick else FULL) if out is None else out
    for one in NAMES if name == "all" else (name,):
        experiment = find(one)
        context = Context(
            out / one,
            quick=quick,
            seed=seed,
            data=data,
            muse=muse,
            command=command,
            only=tuple(only or ()),
            redraw=redraw,
        )
        for finding in reproduce(experiment, context):
            print(f"{one}: {finding}", flush=True)
        tables = "data.csv, summary.csv" if experiment.summarise else "data.csv"
        write_verdicts(out)
        stderr.print(f"{context.out}/: {tables}, figure.png, figure.svg, manifest.json", highlight=False)
