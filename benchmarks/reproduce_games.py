"""Run one rival in all directions, orders and seeds side by side on a GPU, and store the runs as cells of the translation table.

``python benchmarks/reproduce_games.py --data DATA --out results/reproduce/europarl --seeds 0 1 2 --orders ordered shuffled`` plays
adversarial games, ``--system Wasserstein–Procrustes`` couples batches. One run of ``invarot reproduce words`` leaves most of a GPU idle; a
dozen take little longer, and the seconds of a row are those of all. Writes the cells of `words`, of `readouts` (seed 0, rows in order)
and of `dynamics` (games in order), of the core pair that of `objective`, and every checkpoint of a game, with the precision of those in order, to games.csv. Games that ``--minutes`` stops before their five epochs
leave their checkpoints there and no cell: stopped by our clock, they would count against the rival.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from invarot.arrays import Array
from invarot.baselines import wasserstein_procrustes_runs
from invarot.baselines.adversarial import Epoch, Training, adversarial_runs, refine_run
from invarot.experiments import Context
from invarot.experiments.finished import append_finished, merge_finished, read_finished
from invarot.experiments.provenance import describe_commit, describe_machine
from invarot.experiments.readouts import score_readouts
from invarot.experiments.systems import Job, batch_options, game_options
from invarot.experiments.tasks import find_tasks
from invarot.experiments.words import Setting
from invarot.retrieval import evaluate

GAMES, BATCHES = "adversarial", "Wasserstein–Procrustes"
Key = tuple[str, bool, int]  # direction, whether the rows are shuffled, seed
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
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--orders", nargs="+", choices=("ordered", "shuffled"), default=["ordered"])
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="no checkpoint is begun that would end later"
    )
    parser.add_argument("--quick", action="store_true", help="tiny games, to try the program")
    parser.add_argument("--system", choices=(GAMES, BATCHES), default=GAMES)
    parser.add_argument("--only", action="append", default=[], help="a direction, such as en-fr; may be repeated")
    args = parser.parse_args()
    command = shlex.join(["python", "benchmarks/reproduce_games.py", *sys.argv[1:]])
    context = Context(args.out, data=args.data, quick=args.quick, command=command)
    settings = {
        (task.name, order == "shuffled", seed): Setting.of(task, args.system, order == "shuffled", seed, context)
        for task in find_tasks(context)
        if not args.only or task.name in args.only
        for order in args.orders
        for seed in args.seeds
    }
    begun = time.perf_counter()
    try:
        best = play(settings, args) if args.system == GAMES else couple(settings)
    except ClockStops:
        print("the clock stops the games: no cell is stored", flush=True)
        return
    seconds = time.perf_counter() - begun
    print(f"{seconds:.0f} s: solved", flush=True)
    cell = {
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
        "commit": describe_commit(),
        "command": command,
    }
    ends = []
    for (key, setting), (w, value) in zip(settings.items(), best, strict=True):
        name, shuffled, seed = key
        stages = (
            score_stages(setting, w, value, seconds) if args.system == GAMES else
            [setting.score(args.system, make_job(setting, seed).one(w), seconds)]
        )  # fmt: skip
        order = "shuffled" if shuffled else "in order"
        store(context, "words", {"name": f"{name}, {args.system}, {order}, seed {seed}", **cell,
                                 "rows": [row | {"side_by_side": len(settings)} for row in stages]})  # fmt: skip
        print(key, *(f"{row['system']} {row['precision_csls']:.1f}" for row in stages), flush=True)
        ends.append({"system": args.system, "pair": name, "shuffled": shuffled, "seed": seed, "objective": value,
                     "precision@1": stages[0]["precision_csls"] / 100})  # fmt: skip
        if not shuffled and seed == 0:
            job = make_job(setting, seed)
            rows = score_readouts(setting, job, job.one(w), None, name, args.system)
            store(context, "readouts", {"name": f"{name}, {args.system}", **cell, "rows": rows})
    if args.system == GAMES:
        store_tracks(context, cell)
        if args.data is None:  # the core pair, whose starts `objective` compares
            store(context, "objective", {"name": "adversarial games", **cell, "rows": ends})


def make_job(setting: Setting, seed: int) -> Job:
    return Job(setting.x, setting.y, setting.known, seed, setting.sizes)


def couple(settings: dict[Key, Setting]) -> list[tuple[Array, float]]:
    """Solve Wasserstein–Procrustes in all runs together."""
    some = list(settings.values())
    found = wasserstein_procrustes_runs([(one.x, one.y) for one in some], rngs=[seed for _, _, seed in settings],
                                        **batch_options(some[0].sizes))  # fmt: skip
    return [(one.map, float("nan")) for one in found]


def play(settings: dict[Key, Setting], args: argparse.Namespace) -> list[tuple[Array, float]]:
    """Return each game's map of the best criterion with its value."""
    begun = last = time.perf_counter()
    keys = list(settings)
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "games.csv").open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if stream.tell() == 0:
            writer.writeheader()

        def note(epoch: Epoch) -> None:
            nonlocal last
            pair, shuffled, seed = keys[epoch.run]
            setting = settings[keys[epoch.run]]
            found = {} if shuffled else evaluate(setting.x @ epoch.map, setting.y, setting.gold).precision
            writer.writerow({
                "system": GAMES, "pair": pair, "shuffled": shuffled, "seed": seed, "step": epoch.epochs,
                "objective": epoch.criterion, "loss": epoch.discriminator_loss,
                **{f"precision@{k}": value for k, value in found.items()},
                "seconds": round(time.perf_counter() - begun, 1),
            })  # fmt: skip
            if epoch.run == len(keys) - 1:
                stream.flush()
                now = time.perf_counter()
                print(f"{now - begun:.0f} s: {epoch.epochs} epochs", flush=True)
                if now - begun + (now - last) > 60 * args.minutes:
                    raise ClockStops
                last = now

        first = next(iter(settings.values()))
        found = adversarial_runs([(one.x, one.y) for one in settings.values()], rngs=[seed for _, _, seed in keys], on_epoch=note,
                                 **game_options(first.sizes, len(first.x)))  # fmt: skip
    return [(one.map, max(one.history["objective"])) for one in found]


def score_stages(setting: Setting, w: Array, value: float, seconds: float) -> list[dict[str, Any]]:
    """Return the rows of the table: the map of the best checkpoint, and after its paper's refinement."""
    run = Training(0.0, w, value=value)
    refine_run(run, setting.x, setting.y, 5, criterion_words=min(10_000, len(setting.x)))
    stages = ((GAMES, w), (f"{GAMES} + refine", run.best))
    job = make_job(setting, 0)
    return [setting.score(name, job.one(each), seconds) for name, each in stages]


def store_tracks(context: Context, cell: dict[str, Any]) -> None:
    """Store the checkpoints of all games in order as cells of `dynamics`."""
    with (context.out / "games.csv").open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["shuffled"] == "False"]
    numbers = ("step", "objective", "loss", *(f"precision@{k}" for k in (1, 5, 10)))
    first, *others = [task.name for task in find_tasks(context)]
    for name, pairs in ((GAMES, [first]), (f"{GAMES}, every other direction", others)):
        found = []
        for row in rows:
            if row["pair"] in pairs:
                pair = {} if pairs == [first] else {"pair": row["pair"]}
                kept = {"system": GAMES, **pair, "seed": int(row["seed"]), **{key: float(row[key]) for key in numbers}}
                found.append(kept)
        if found:
            store(context, "dynamics", {"name": name, **cell, "rows": found})


def store(context: Context, name: str, cell: dict[str, Any]) -> None:
    path = context.out / name / "cells.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        merge_finished(path, context.identity())
    read_finished(path, context.identity())  # refuses a file of other options
    append_finished(path, cell)


if __name__ == "__main__":
    main()
