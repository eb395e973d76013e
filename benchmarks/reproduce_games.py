"""Run one rival in all directions side by side on a GPU, and store the runs as cells of the translation table.

``python benchmarks/reproduce_games.py --data DATA --out results/reproduce/europarl --seed 0 --minutes 6`` plays adversarial games,
``--system Wasserstein–Procrustes`` couples batches. One run of ``invarot reproduce words`` leaves most of a GPU idle; six take little
longer, and the seconds of a row are those of all. Games that the clock stops before their five epochs say so in the column `epochs`.
Writes the cells of `words` and of `readouts` (seed 0, rows in order), and every checkpoint of a game as a row of `dynamics` to games.csv:
pair, seed, epochs, criterion, loss and precision.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from invarot import Alignment
from invarot.arrays import Array
from invarot.baselines import wasserstein_procrustes_runs
from invarot.baselines.adversarial import Epoch, Progress, adversarial_runs, refine_run
from invarot.experiments import Context
from invarot.experiments.provenance import describe_commit, describe_machine
from invarot.experiments.readouts import score_readouts
from invarot.experiments.run import append_finished, read_finished, write_finished
from invarot.experiments.systems import Job, batch_options, game_options
from invarot.experiments.tasks import find_tasks
from invarot.experiments.words import Setting
from invarot.retrieval import evaluate

GAMES, BATCHES = "adversarial", "Wasserstein–Procrustes"
FIELDS = (
    "system",
    "pair",
    "shuffled",
    "seed",
    "step",
    "objective",
    "loss",
    "precision@1",
    "precision@5",
    "precision@10",
    "seconds",
)


class ClockStops(Exception):
    """No time is left for another checkpoint."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/reproduce"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="no checkpoint is begun that would end later"
    )
    parser.add_argument("--quick", action="store_true", help="tiny games, to try the program")
    parser.add_argument("--system", choices=(GAMES, BATCHES), default=GAMES)
    parser.add_argument("--only", action="append", default=[], help="a direction, such as en-fr; may be repeated")
    args = parser.parse_args()
    command = shlex.join(["python", "benchmarks/reproduce_games.py", *sys.argv[1:]])
    context = Context(args.out, data=args.data, quick=args.quick, command=command)
    tasks = [task for task in find_tasks(context) if not args.only or task.name in args.only]
    settings = {task.name: Setting.of(task, args.system, args.shuffled, args.seed, context) for task in tasks}
    begun = time.perf_counter()
    told: dict[str, Any] = {"side_by_side": len(settings)}
    if args.system == GAMES:
        best, told["epochs"] = play(settings, args)
    else:
        best = [(found.map, float("nan")) for found in couple(settings, args.seed)]
    seconds = time.perf_counter() - begun
    print(f"{seconds:.0f} s: solved", flush=True)
    cell = {
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
        "commit": describe_commit(),
        "command": command,
    }
    for (name, setting), (w, value) in zip(settings.items(), best, strict=True):
        stages = (
            score_stages(setting, w, value, seconds) if args.system == GAMES else
            [setting.score(args.system, make_job(setting, args.seed).one(w), seconds)]
        )  # fmt: skip
        order = "shuffled" if args.shuffled else "in order"
        store(context, "words", {"name": f"{name}, {args.system}, {order}, seed {args.seed}", **cell,
                                 "rows": [row | told for row in stages]})  # fmt: skip
        print(name, *(f"{row['system']} {row['precision_csls']:.1f}" for row in stages), flush=True)
    for (name, setting), (w, _) in zip(
        settings.items(), best, strict=True
    ):  # after all of the others: the clock may stop it
        if not args.shuffled and args.seed == 0:
            job = make_job(setting, args.seed)
            rows = score_readouts(setting, job, job.one(w), None, name, args.system)
            store(context, "readouts", {"name": f"{name}, {args.system}", **cell, "rows": rows})


def make_job(setting: Setting, seed: int) -> Job:
    return Job(setting.x, setting.y, setting.known, seed, setting.sizes)


def couple(settings: dict[str, Setting], seed: int) -> list[Alignment]:
    """Solve Wasserstein–Procrustes in all directions together."""
    some = list(settings.values())
    return wasserstein_procrustes_runs([(one.x, one.y) for one in some], rngs=[seed] * len(some),
                                       **batch_options(some[0].sizes))  # fmt: skip


def play(settings: dict[str, Setting], args: argparse.Namespace) -> tuple[list[tuple[Array, float]], float]:
    """Return each game's map of the best criterion with its value, and how many epochs were played."""
    begun = last = time.perf_counter()
    names = list(settings)
    best: list[tuple[Any, float]] = [(None, float("-inf")) for _ in names]
    played = 0.0
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "games.csv").open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if stream.tell() == 0:
            writer.writeheader()

        def note(epoch: Epoch) -> None:
            nonlocal last, played
            setting = settings[names[epoch.run]]
            if epoch.criterion > best[epoch.run][1]:
                best[epoch.run] = epoch.map, epoch.criterion
            found = evaluate(setting.x @ epoch.map, setting.y, setting.gold).precision
            writer.writerow({
                "system": GAMES, "pair": names[epoch.run], "shuffled": args.shuffled, "seed": args.seed, "step": epoch.epochs,
                "objective": epoch.criterion, "loss": epoch.discriminator_loss,
                **{f"precision@{k}": value for k, value in found.items()},
                "seconds": round(time.perf_counter() - begun, 1),
            })  # fmt: skip
            stream.flush()
            if epoch.run == len(names) - 1:
                now, played = time.perf_counter(), epoch.epochs
                print(f"{now - begun:.0f} s: {played} epochs", flush=True)
                if now - begun + (now - last) > 60 * args.minutes:
                    raise ClockStops
                last = now

        first = settings[names[0]]
        try:
            adversarial_runs([(one.x, one.y) for one in settings.values()], rngs=[args.seed] * len(names), on_epoch=note,
                             **game_options(first.sizes, len(first.x)))  # fmt: skip
        except ClockStops:
            print("the clock stops the games", flush=True)
    return best, played


def score_stages(setting: Setting, w: Array, value: float, seconds: float) -> list[dict[str, Any]]:
    """Return the rows of the table: the map of the best checkpoint, and after its paper's refinement."""
    run = Progress(0.0, w, value=value)
    refine_run(run, setting.x, setting.y, 5, criterion_words=min(10_000, len(setting.x)))
    stages = ((GAMES, w), (f"{GAMES} + refine", run.best))
    job = make_job(setting, 0)
    return [setting.score(name, job.one(each), seconds) for name, each in stages]


def store(context: Context, name: str, cell: dict[str, Any]) -> None:
    path = context.out / name / "cells.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write_finished(path, context.identity(), [])
    read_finished(path, context.identity())  # refuses a file of other options
    append_finished(path, cell)


if __name__ == "__main__":
    main()
