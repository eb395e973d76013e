"""What the last steps gain: words that are taken or rare held back, and spelling. P@1 with CSLS on the train dictionaries alone.

    python benchmarks/finish.py --data DATA [--pairs 100-es 300-de ...] [--device cuda] [--models FOLDER] > results/finish.txt
    python benchmarks/finish.py --data DATA --ordered [...] > results/finish_ordered.txt

Each pair is learned once (the recipe "best", first 5,000 words shuffled by the seed or, with ``--ordered``, as they come; 20,000 words
kept, all words fitted on) and finished in several ways; nothing is learned anew in between. *Rare*: the 1,500 rarest source
words that can be asked. The test dictionaries are not read. ``--models`` keeps what was learned.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from invarot.arrays import Array, as_like, namespace, place, to_numpy, unit_rows
from invarot.retrieval import neighbours
from invarot.translation import Translation, adjust, learn, load, recipe
from invarot.translation.steps.penalties import (
    CONSTANT,
    RANK_CONSTANT,
    append_penalties,
    center_log_ranks,
    find_best_cosines,
)
from invarot.words import Gold, read_dictionary, read_vectors, shuffled_order
from invarot.words.spelling import SPELLING_WEIGHT, spelling

TOP, EXTRA, RARE = 20_000, 30_000, 1500
TAKEN, RARE_SHARE = recipe("best").match_penalty, recipe("best").rank_penalty
PAIRS = ("100-es", "100-fr", "100-de", "300-es", "300-fr", "300-de")
RUSSIAN = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстувщжыз")

Queries = list[tuple[dict[int, set[int]], np.ndarray[Any, Any]]]
Sides = tuple[Array, Array]


def learned(args: argparse.Namespace, pair: str, seed: int) -> Translation:
    folder = None if args.models is None else args.models / f"{pair}-{'ordered' if args.ordered else seed}"
    if folder is not None and folder.exists():
        return load(folder)
    size, language = pair.split("-")
    files = [args.data / f"europarl{size}" / f"{name}.npz" for name in ("en", language)]
    sides = [read_vectors(file, max_words=TOP + EXTRA) for file in files]
    if not args.ordered:
        sides = [side.take(shuffled_order(len(side), first=5000, rng=2 * seed + k)) for k, side in enumerate(sides)]
    model = learn(*sides, how=recipe("best", ordered=args.ordered), rng=seed, device=args.device, keep=TOP)
    if folder is not None:
        model.save(folder)
    return model


def queries(args: argparse.Namespace, pair: str, model: Translation) -> Queries:
    """Of both directions: the answers of each source row, and which of the rows, in rising order, are rare."""
    size, language = pair.split("-")
    found = []
    for there, back, source, target in (
        ("en", language, model.source, model.target),
        (language, "en", model.target, model.source),
    ):
        order = read_vectors(
            args.data / f"europarl{size}" / f"{there}.npz", max_words=TOP
        ).index()  # not the shuffled one
        listed = read_dictionary(args.data / "muse" / f"{there}-{back}.0-5000.txt")
        targets = Gold.from_pairs(listed, source.words, target.words).targets
        ranks = np.asarray([order[source.words[row]] for row in sorted(targets)])
        found.append(({row: set(right) for row, right in targets.items()}, ranks >= np.sort(ranks)[-RARE:][0]))
    return found


def measure(x: Array, y: Array, asked: Queries) -> np.ndarray[Any, Any]:
    """P@1 in percent: rows are en→x and x→en; columns all and rare."""
    rows = []
    for (targets, rare), way in zip(asked, ((x, y), (y, x)), strict=True):
        asked_rows = sorted(targets)
        answers = to_numpy(neighbours(*way, k=1, queries=np.asarray(asked_rows))[0])[:, 0]
        right = np.asarray([answer in targets[row] for row, answer in zip(asked_rows, answers.tolist(), strict=True)])
        rows.append((100 * right.mean(), 100 * right[rare].mean()))
    return np.asarray(rows)


def finished(x: Array, y: Array, share: float, count: int = 1, rare: float = 0.0) -> Sides:
    best = find_best_cosines(x, y, count=count)
    xp = namespace(x)
    constant = RANK_CONSTANT if rare else CONSTANT
    left, right = (
        append_penalties(z, share * (b - xp.mean(b)) + as_like(rare * center_log_ranks(z.shape[0]), z), side, constant)
        for z, b, side in ((x, best[0], "source"), (y, best[1], "target"))
    )
    return left, right


def compared(sides: Sides, weight: float) -> Sides:
    """The log rank as a coordinate of both sides, so that words of unlike rank lie further apart."""
    left, right = (
        namespace(z).concat([unit_rows(z), as_like(weight * center_log_ranks(z.shape[0]), z)[:, None]], axis=1)
        for z in sides
    )
    return left, right


def ways(model: Translation, x: Array, y: Array) -> Iterator[tuple[str, Sides]]:
    """Every way of finishing, by name; ``x`` and ``y`` are locally centred already."""

    def spelled(weight: float, target: tuple[str, ...] = model.target.words, **options: int) -> Sides:
        xp = namespace(x)
        left, right = (
            xp.concat([unit_rows(z), weight * place(spelling(words, **options), where(z))], axis=1)
            for z, words in ((x, model.source.words), (y, target))
        )
        return left, right

    yield "as refined and set off", (x, y)
    for share in (0.15, 0.25, 0.35, 0.45, 0.5):
        yield f"taken {share}", finished(x, y, share)
    if model.recipe.ordered:
        for rare in (0.01, 0.02, 0.03, 0.04, 0.06):
            yield f"taken {TAKEN}, rare {rare}", finished(x, y, TAKEN, rare=rare)
        for weight in (0.03, 0.05, 0.08, 0.12):
            yield f"taken {TAKEN}, log rank compared {weight}", finished(*compared((x, y), weight), TAKEN)
        yield (
            f"taken {TAKEN}, rare {RARE_SHARE}, spelling {SPELLING_WEIGHT}",
            finished(*spelled(SPELLING_WEIGHT), TAKEN, rare=RARE_SHARE),
        )
    for count in (3, 10):
        yield f"mean of {count} instead of the best, {TAKEN}", finished(x, y, TAKEN, count)
    for weight in (0.4, 0.6, 0.8, 1.0):
        yield f"taken {TAKEN}, spelling {weight}", finished(*spelled(weight), TAKEN)
    yield f"spelling {SPELLING_WEIGHT} alone", spelled(SPELLING_WEIGHT)
    for longest in (2, 4):
        name = f"taken {TAKEN}, spelling {SPELLING_WEIGHT}, runs of up to {longest}"
        yield name, finished(*spelled(SPELLING_WEIGHT, longest=longest), TAKEN)
    for size in (64, 256, 512):
        yield (
            f"taken {TAKEN}, spelling {SPELLING_WEIGHT}, {size} coordinates",
            finished(*spelled(SPELLING_WEIGHT, size=size), TAKEN),
        )
    foreign = tuple(word.translate(RUSSIAN) for word in model.target.words)
    yield (
        f"taken {TAKEN}, spelling {SPELLING_WEIGHT}, the target in another alphabet (left out by the product)",
        finished(*spelled(SPELLING_WEIGHT, foreign), TAKEN),
    )


def where(z: Array) -> str:
    return "cpu" if isinstance(z, np.ndarray) else str(z.device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", nargs="+", default=PAIRS)
    parser.add_argument(
        "--only", nargs="+", help="only the ways in whose name one of these patterns is found, and the first"
    )
    parser.add_argument("--ordered", action="store_true", help="rows as they come, most frequent first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--models", type=Path, help="folder to keep what was learned in, or to find it")
    args = parser.parse_args()
    print("pair | finished by | en→x all rare | x→en all rare | mean all rare | against the first")
    for pair in args.pairs:
        model = adjust(learned(args, pair, args.seed), match_penalty=0, rank_penalty=0)
        asked = queries(args, pair, model)
        x, y = (place(np.asarray(side, dtype=np.float32), args.device) for side in model.clouds)
        first: np.ndarray[Any, Any] | None = None
        for name, sides in ways(model, x, y):
            if args.only and first is not None and not any(re.search(part, name) for part in args.only):
                continue
            found = measure(*sides, asked)
            first = found if first is None else first
            mean, gain = found.mean(axis=0), (found - first).mean(axis=0)
            cells = [" ".join(f"{v:.2f}" for v in row) for row in (*found, mean)] + [
                " ".join(f"{v:+.2f}" for v in gain)
            ]
            print(" | ".join([pair, name, *cells]), flush=True)


if __name__ == "__main__":
    main()
