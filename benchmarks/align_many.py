"""Four languages in one space against every pair on its own: P@1 with CSLS over all 12 directions, 20k × 20k words.

    python benchmarks/align_many.py --data DATA --set europarl300 --device cuda

Both ways read the same words, prepare, solve and finish alike ("best"); the hub solves the same six pairs, then fits and refines
all maps together. MUSE has dictionaries with English only. Those of two other languages are made of the test words of English that both
dictionaries translate. Dictionaries only score. ``--split 0-5000`` scores on the train split. *Through English*: from a
language to English and on by the maps of these two pairs, composed in two ways, the better one shown.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from provenance import header, write_page

from invarot.arrays import Array, place, to_numpy
from invarot.geometry.orthogonal import polar
from invarot.retrieval import neighbours
from invarot.translation import Hub, Translation, adjust, learn, learn_many, recipe
from invarot.translation.steps import pooling
from invarot.words import Gold, Vectors, read_dictionary, read_vectors

LANGUAGES = ("en", "es", "fr", "de")
TOP = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="europarl300")
    parser.add_argument("--split", default="5000-6500")
    parser.add_argument(
        "--extra", type=int, default=3 * TOP // 2, help="words after the first 20,000 that help the fit"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--top", type=int, default=TOP, help="words per language that are translated; fewer to try the script"
    )
    parser.add_argument(
        "--share", type=float, default=pooling.NEIGHBOUR_WEIGHT, help="weight of neighbours in other languages"
    )
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    pooling.NEIGHBOUR_WEIGHT = args.share
    words = {
        name: read_vectors(args.data / args.set / f"{name}.npz", max_words=args.top + args.extra) for name in LANGUAGES
    }
    how = recipe("best")
    begun = time.perf_counter()
    hub = learn_many(words, how=how, device=args.device, keep=args.top, n_jobs=args.jobs)
    together = time.perf_counter() - begun
    print(f"one space: {together:.1f} s", flush=True)
    rows: dict[str, tuple[float, ...]] = {}
    pivot: dict[str, Translation] = {}  # pairs with English
    alone = 0.0
    for first, second in itertools.combinations(LANGUAGES, 2):
        begun = time.perf_counter()
        pairwise = learn(words[first], words[second], how=how, device=args.device, keep=args.top)
        alone += time.perf_counter() - begun
        begun = time.perf_counter()
        common = hub.pair(first, second, device=args.device)
        together += time.perf_counter() - begun
        plain = unpool(common)
        if first == LANGUAGES[0]:
            pivot[second] = pairwise
        for source, target in ((first, second), (second, first)):
            gold = read_gold(args.data / "muse", source, target, args.split, words, args.top)
            found = [score(model, gold, args.device, turned=source != first) for model in (pairwise, plain, common)]
            through = score_through(pivot, source, target, gold, args.device)
            rows[f"{source}→{target}"] = (len(gold.targets), *found, through)
            print(f"{source}→{target}", *rows[f"{source}→{target}"], flush=True)
        write_rows(args, hub, rows, alone, together)
    means = np.mean([row[1:] for row in rows.values()], axis=0)
    print(json.dumps({"pairwise": means[0], "together, not pooled": means[1], "together": means[2]}))


def write_rows(
    args: argparse.Namespace, hub: Hub, rows: dict[str, tuple[float, ...]], alone: float, together: float
) -> None:
    """Write the page with the directions that are done."""
    command = (
        f"python benchmarks/align_many.py --data DATA --set {args.set} --split {args.split} --extra {args.extra} "
        f"--top {args.top} --share {args.share} --device {args.device}"
    )
    lines = [f"# Four languages in one space, {args.set}, split {args.split}", "", *header(command),
             "| direction | queries | every pair on its own | one space, not pooled | one space | through English |", "|---|---|---|---|---|---|",
             *(f"| {name} | {count} | {one:.2f} | {plain:.2f} | {many:.2f} | {'–' if np.isnan(through) else f'{through:.2f}'} |"
               for name, (count, one, plain, many, through) in rows.items())]  # fmt: skip
    for label, some in (
        ("mean", list(rows.values())),
        ("mean without English", [row for row in rows.values() if not np.isnan(row[-1])]),
    ):
        if some:
            means = [f"{mean:.2f}" for mean in np.mean([row[1:] for row in some], axis=0)]
            lines += [f"| {label} | | {' | '.join('–' if mean == 'nan' else mean for mean in means)} |"]
    lines += ["",
              f"Seconds: {alone:.1f} for {len(rows) // 2} pairs, {together:.1f} for one space and these pairs of it. "
              "Cycle error 0 by construction.",
              f"Verdicts: {', '.join(f'{one.first}–{one.second} {one.verdict.word}' for one in hub.pairs)}."]  # fmt: skip
    write_page(args.out / f"align_many_{args.set}.md", lines)


def unpool(model: Translation) -> Translation:
    """The same pair without the words of the other languages."""
    kept = tuple(step for step in model.steps if step.name != "pooling")
    return adjust(replace(model, steps=kept), local_centring=model.recipe.local_centring)


def read_gold(folder: Path, source: str, target: str, split: str, words: dict[str, Vectors], top: int) -> Gold:
    """The dictionary of MUSE, or the words of two languages that the same English word has."""
    if "en" in (source, target):
        pairs = read_dictionary(folder / f"{source}-{target}.{split}.txt")
    else:
        left, right = (read_dictionary(folder / f"en-{name}.{split}.txt") for name in (source, target))
        by_english: dict[str, list[str]] = {}
        for english, word in right:
            by_english.setdefault(english, []).append(word)
        pairs = [(word, other) for english, word in left for other in by_english.get(english, ())]
    return Gold.from_pairs(pairs, words[source].words[:top], words[target].words[:top])


def score(model: Translation, gold: Gold, device: str, *, turned: bool) -> float:
    """P@1 in percent among the words that are kept."""
    x, y = (place(side, device) for side in (reversed(model.clouds) if turned else model.clouds))
    asked = sorted(gold.targets)
    found, _ = neighbours(x, y, k=1, queries=np.asarray(asked))
    return count_right(asked, found, gold)


def score_through(pivot: dict[str, Translation], source: str, target: str, gold: Gold, device: str) -> float:
    """P@1 from a language to another by way of English, whose words in both spaces lead from one to the other.

    By a linear map or by a rotation, whichever is better: a linear one undoes the weights of the first space, noise included.
    """
    if not {source, target} <= set(pivot):
        return float("nan")
    (english, x), (again, y) = ([to_numpy(side) for side in pivot[name].clouds] for name in (source, target))
    asked, scores = sorted(gold.targets), []
    for onward in (np.linalg.lstsq(english, again, rcond=None)[0], polar(english.T @ again)):
        clouds = (place(np.asarray(side, dtype=np.float32), device) for side in (x @ onward, y))
        found, _ = neighbours(*clouds, k=1, queries=np.asarray(asked))
        scores.append(count_right(asked, found, gold))
    return max(scores)


def count_right(asked: list[int], found: Array, gold: Gold) -> float:
    """Percent of the asked words whose nearest is one of their translations."""
    right = [answer in gold.targets[query] for query, answer in zip(asked, to_numpy(found)[:, 0].tolist(), strict=True)]
    return 100 * float(np.mean(right))


if __name__ == "__main__":
    main()
