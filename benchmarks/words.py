"""Unsupervised word translation on the Europarl vectors: P@1 with CSLS, 20k × 20k words, both directions, over seeds.

    python benchmarks/words.py --data DATA --sets europarl100 europarl300 --languages es fr de --seeds 10 [--jobs 12]

A seed sets the solver's rng and, where rows are *shuffled*, destroys the order inside the 5,000 most frequent words, which
still form the first stage, with no rank used. The words that follow the 20,000 of the model, ``--extra`` of them where a file
has as many, help the refinement as ``invarot align --max-words 20000`` has it; scores are those of 20,000 × 20,000 words.
``--spelling`` scores each run a second time, going by spelling too (it enters after the refinement: nothing is learned anew).
Writes words.csv (a row a run and score) and words.md; a run that was stopped goes on where it was. The MUSE test dictionaries
(5000-6500) only score: nothing is fitted or chosen by them.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page

from invarot.arrays import Array, place, to_numpy
from invarot.retrieval import neighbours
from invarot.translation import adjust, learn, recipe
from invarot.words import Gold, Vectors, read_dictionary, read_vectors, shuffled_order
from invarot.words.spelling import SPELLING_WEIGHT

TOP = 20_000
Row = dict[str, object]
KEYS = ("set", "pair", "words", "order", "seed", "spelling")
FIELDS = (*KEYS, "forth", "back", "verdict", "probability", "solve_s", "refine_s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["europarl100", "europarl300"])
    parser.add_argument("--languages", nargs="+", default=["es", "fr", "de"])
    parser.add_argument("--orders", nargs="+", default=["shuffled", "ordered"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--extra", type=int, default=3 * TOP // 2, help="words after the first 20,000 that help the fit"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="runs at once; set OMP_NUM_THREADS=1 where it is more than 1"
    )
    parser.add_argument("--spelling", action="store_true", help="score every run going by spelling too")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    path = args.out / "words.csv"
    done = set()
    if path.exists():
        with path.open() as file:
            held = csv.DictReader(file)
            if tuple(held.fieldnames or ()) != FIELDS:
                parser.error(f"{path}: its columns are those of an earlier version; move it away")
            done = {tuple(row[key] for key in KEYS) for row in held}
    last = "yes" if args.spelling else "no"  # of the scores of a run, the one that is written last
    words = f"{(TOP + args.extra) // 1000}k"
    tasks = [
        (args, folder, language, order, seed, words)
        for seed, folder, language, order in itertools.product(
            range(args.seeds), args.sets, args.languages, args.orders
        )
        if (folder, f"en-{language}", words, order, str(seed), last) not in done
    ]
    for rows in finished(run, tasks, args.jobs):
        fresh = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            if fresh:
                writer.writeheader()
            fresh_rows = [row for row in rows if tuple(str(row[key]) for key in KEYS) not in done]
            writer.writerows(fresh_rows)
        print(*fresh_rows, sep="\n", flush=True)
    summarise(path, args.out / "words.md")


def finished(work: Callable[..., list[Row]], tasks: list[tuple[Any, ...]], jobs: int) -> Iterator[list[Row]]:
    """What ``work`` makes of each task, as it is done."""
    if jobs == 1:
        yield from (work(*task) for task in tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:  # a GPU does not survive a fork
        for done in as_completed([pool.submit(work, *task) for task in tasks]):
            yield done.result()


def run(args: argparse.Namespace, folder: str, language: str, order: str, seed: int, words: str) -> list[Row]:
    limit = TOP + args.extra
    sides = [load(args.data / folder / f"{name}.npz", limit) for name in ("en", language)]
    if order == "shuffled":
        sides = [side.take(shuffled_order(len(side), first=5000, rng=2 * seed + k)) for k, side in enumerate(sides)]
    how = recipe("best", ordered=order == "ordered")
    model = learn(sides[0], sides[1], how=how, rng=seed, device=args.device, keep=TOP)
    seconds = model.seconds
    rows: list[Row] = []
    for spelling in ("no", "yes") if args.spelling else ("no",):
        asked = model if spelling == "no" else adjust(model, spelling=SPELLING_WEIGHT, device=args.device)
        x, y = (place(side[:TOP], args.device) for side in asked.clouds)
        forth = score(x, y, model.source, model.target, args.data / "muse" / f"en-{language}.5000-6500.txt")
        back = score(y, x, model.target, model.source, args.data / "muse" / f"{language}-en.5000-6500.txt")
        rows.append({
            "set": folder, "pair": f"en-{language}", "words": words, "order": order, "seed": seed, "spelling": spelling,
            "forth": forth, "back": back, "verdict": model.verdict.word,
            "probability": round(model.verdict.probability, 4),
            "solve_s": round(sum(value for name, value in seconds.items() if name in ("prepare", "solve")), 1),
            "refine_s": round(sum(value for name, value in seconds.items() if name not in ("prepare", "solve")), 1),
        })  # fmt: skip
    return rows


@lru_cache(maxsize=8)
def load(path: Path, limit: int) -> Vectors:
    return read_vectors(path, max_words=limit)


def score(x: Array, y: Array, source: Vectors, target: Vectors, dictionary: Path) -> float:
    """P@1 in percent among the first 20,000 words of each side."""
    gold = Gold.from_pairs(read_dictionary(dictionary), source.words[:TOP], target.words[:TOP])
    asked = sorted(gold.targets)
    found, _ = neighbours(x, y, k=1, queries=np.asarray(asked))
    right = [answer in gold.targets[query] for query, answer in zip(asked, to_numpy(found)[:, 0].tolist(), strict=True)]
    return round(100 * float(np.mean(right)), 2)


def summarise(path: Path, out: Path) -> None:
    """The table of all rows of ``path``; what stands below the mark in ``out`` was written by hand and stays."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    lines = ["# Word translation with no dictionary", "", *header("python benchmarks/words.py --data DATA --spelling"),
             "P@1, CSLS, MUSE test split, 20k × 20k words; mean ± sd over seeds, and the lowest.", "",
             "| vectors | pair | words read | rows | spelling | seeds | en→x | x→en | aligned | solve s | refine s |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    key = lambda row: (row["set"], row["pair"], row["words"], row["order"], row["spelling"])  # noqa: E731
    for group, cell in itertools.groupby(sorted(rows, key=key), key=key):
        runs = list(cell)
        both = [np.asarray([float(row[name]) for row in runs]) for name in ("forth", "back", "solve_s", "refine_s")]
        aligned = sum(row["verdict"] == "aligned" for row in runs)
        shown = (f"{v.mean():.2f} ± {v.std():.2f} (≥ {v.min():.2f})" for v in both[:2])
        times = (f"{np.median(v):.1f}" for v in both[2:])
        lines.append("| " + " | ".join([*group, str(len(runs)), *shown, f"{aligned}", *times]) + " |")
    print(write_page(out, lines))


if __name__ == "__main__":
    main()
