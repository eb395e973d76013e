"""Constants of the translation chosen on pairs outside the table of words, then the test split of the table once.

    python benchmarks/frozen.py choose --data DATA    # → results/frozen_choice.csv, results/frozen.json
    python benchmarks/frozen.py test --data DATA [--sets europarl100 europarl300] [--seeds 3] [--device cuda]

`choose` reads none of the table's vectors or dictionaries. Its pairs: Zhang et al.'s (2017) Spanish and Chinese with English (50-d, other
corpora, their own list; a short list of everyday words for Chinese), Russian fiction and news (the same word is right), GloVe in 50 and
100 dimensions (likewise). Each pair is solved once; then one constant after the other, in the order of the pipeline, is set to the value
of its grid with the highest mean P@1 (CSLS, both directions, every pair counts the same), from a start without our own additions. Ties go to
the value nearer to that start. `test` learns every pair of the table with the shipped and with the frozen constants and scores both on
the MUSE test split.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page

from invarot.arrays import Array, place, to_numpy
from invarot.experiments.provenance import describe_commit
from invarot.retrieval import neighbours
from invarot.translation import learn, recipe
from invarot.translation.pipeline import FINISHING, fit_steps
from invarot.translation.progress import Progress
from invarot.translation.recipe import Recipe
from invarot.translation.steps import local_centring, penalties
from invarot.translation.steps import refine as refining
from invarot.translation.steps.prepare import PREPARE
from invarot.translation.steps.refine import REFINE
from invarot.translation.steps.shape import Work
from invarot.translation.steps.solve import SOLVE
from invarot.words import Gold, Vectors, read_dictionary, read_vectors, shuffled_order

Constants = dict[str, float]
Pairs = list[tuple[str, str]]
START: Constants = {  # the published self-learning's whitening, and nothing of ours
    "power": 0.5, "dewhiten": 1.0, "ridge": 0.0, "one_sided": 0.0, "local_centring": 0.0, "match_penalty": 0.0,
    "rank_penalty": 0.0,
}  # fmt: skip
SHIPPED: Constants = {
    "power": 1.0, "dewhiten": 0.5, "ridge": 2.0, "one_sided": refining.ONE_SIDED,
    **{name: getattr(Recipe(), name) for name in ("local_centring", "match_penalty", "rank_penalty")},
}  # fmt: skip
GRIDS: list[dict[str, tuple[float, ...]]] = [  # chosen in this order, those of one line together
    {"power": (0.0, 0.5, 1.0), "dewhiten": (0.0, 0.5, 1.0)},
    {"ridge": (0.0, 1.0, 2.0, 4.0)},
    {"one_sided": (0.0, 50.0, 100.0)},
    {"local_centring": (0.0, 0.0625, 0.125, 0.25)},
    {"match_penalty": (0.0, 0.15, 0.25, 0.35, 0.45)},
    {"rank_penalty": (0.0, 0.01, 0.02, 0.03, 0.04)},
]
FITTED = ("power", "dewhiten", "ridge", "one_sided")  # a change of these refits the maps
OUTSIDE = {
    "zhang es-en": ("zhang2017/es-en/word2vec.es", "zhang2017/es-en/word2vec.en", "zhang2017/es-en.gold.txt"),
    "zhang zh-en": ("zhang2017/zh-en/word2vec.zh", "zhang2017/zh-en/word2vec.en", "everyday.zh-en.txt"),
    "navec": ("navec/hudlit.npz", "navec/news.npz", None),
    "glove": ("glove/en-glove50.npz", "glove/en-glove100.npz", None),
}
TOP = 20_000


@contextmanager
def constants(values: Constants) -> Iterator[None]:
    """Replace the constants that are no fields of a recipe, and apply every step to any number of words."""
    before = refining.refine, refining.ONE_SIDED, local_centring.FEWEST_CENTRED, penalties.FEWEST_PENALISED
    chosen = {name: values[name] for name in ("power", "dewhiten", "ridge")}
    refining.refine = partial(before[0], **chosen)  # type: ignore[misc]
    refining.ONE_SIDED = values["one_sided"]
    local_centring.FEWEST_CENTRED = penalties.FEWEST_PENALISED = 2
    try:
        yield
    finally:
        refining.refine, refining.ONE_SIDED, local_centring.FEWEST_CENTRED, penalties.FEWEST_PENALISED = before  # type: ignore[misc]


def change(how: Recipe, values: Constants) -> Recipe:
    changed = {name: value for name, value in values.items() if name in Recipe.__dataclass_fields__}
    return replace(how, **(changed if how.ordered else changed | {"rank_penalty": 0.0}))  # type: ignore[arg-type]


# -- choosing --------------------------------------------------------------------------------------------------------


class Outside:
    """A pair outside the table, solved once."""

    def __init__(self, name: str, data: Path, device: str) -> None:
        left, right, listed = OUTSIDE[name]
        sides = [read_vectors(data / file, max_words=TOP) for file in (left, right)]
        if listed is None:
            pairs = [(word, word) for word in sides[0].words]
        else:
            pairs = read_dictionary((data if (data / listed).exists() else Path(__file__).parent) / listed)
        self.name, self.device = name, device
        self.gold = find_gold(pairs, sides[0], sides[1])
        work = Work(source=sides[0], target=sides[1], x=sides[0].vectors, y=sides[1].vectors, recipe=recipe("best"),
                    rng=np.random.default_rng(0), device=device, progress=Progress())  # fmt: skip
        _, self.solved = fit_steps((PREPARE, SOLVE), work)
        assert self.solved.alignment is not None
        self.verdict = self.solved.alignment.verdict.word
        self.refined: dict[tuple[float, ...], Work] = {}

    def score(self, values: Constants) -> tuple[float, float]:
        """Return P@1 in percent, there and back."""
        with constants(values):
            key = tuple(values[name] for name in FITTED)
            if key not in self.refined:
                self.refined[key] = fit_steps((REFINE,), self.solved)[1]
            work = self.refined[key]
            _, work = fit_steps(FINISHING, replace(work, recipe=change(work.recipe, values)))
        return score(work.x, work.y, self.gold[0]), score(work.y, work.x, self.gold[1])


def find_gold(pairs: Pairs, source: Vectors, target: Vectors) -> list[dict[int, set[int]]]:
    back = [(right, left) for left, right in pairs]
    found = (Gold.from_pairs(pairs, source.words, target.words), Gold.from_pairs(back, target.words, source.words))
    return [{row: set(many) for row, many in one.targets.items()} for one in found]


def score(x: Array, y: Array, gold: dict[int, set[int]]) -> float:
    asked = sorted(gold)
    found = to_numpy(neighbours(x, y, k=1, queries=np.asarray(asked))[0])[:, 0].tolist()
    return 100 * float(np.mean([answer in gold[query] for query, answer in zip(asked, found, strict=True)]))


def choose(args: argparse.Namespace) -> None:
    outside = [Outside(name, args.data, args.device) for name in args.pairs]
    print(
        *(f"{one.name}: {one.verdict}, {len(one.gold[0])} and {len(one.gold[1])} queries" for one in outside), sep="\n"
    )
    rows: list[dict[str, Any]] = []

    def measure(values: Constants, step: str) -> float:
        row: dict[str, Any] = {"step": step, **values}
        for one in outside:
            row[f"{one.name} →"], row[f"{one.name} ←"] = (round(value, 2) for value in one.score(values))
        scores = [row[name] for name in row if name[-1] in "→←"]
        row["mean"] = round(float(np.mean(scores)), 3)
        rows.append(row)
        print(row, flush=True)
        return float(np.mean(scores))

    best = START
    for grid in GRIDS:
        ways = [best | dict(zip(grid, some, strict=True)) for some in itertools.product(*grid.values())]
        ways.sort(key=lambda way: sum(abs(way[name] - best[name]) for name in grid))  # a tie: the nearest to the start
        found = [measure(way, " and ".join(grid)) for way in ways]
        best = ways[int(np.argmax(np.round(found, 3)))]
    measure(SHIPPED, "shipped")
    verdicts = {one.name: one.verdict for one in outside}
    told = {"constants": best, "commit": describe_commit(), "pairs": verdicts}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "frozen.json").write_text(json.dumps(told, indent=1) + "\n")
    with (args.out / "frozen_choice.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(best)


# -- testing ---------------------------------------------------------------------------------------------------------

FIELDS = ("set", "pair", "order", "seed", "constants", "forth", "back", "verdict", "commit")


def test(args: argparse.Namespace) -> None:
    frozen = json.loads((args.out / "frozen.json").read_text())["constants"]
    path = args.out / "frozen_test.csv"
    done = set()
    if path.exists():
        with path.open() as file:
            done = {tuple(row[name] for name in FIELDS[:4]) for row in csv.DictReader(file)}
    for seed, folder, language, order in itertools.product(
        range(args.seeds), args.sets, args.languages, ("shuffled", "ordered")
    ):
        if (folder, f"en-{language}", order, str(seed)) in done:
            continue
        sides = [read_vectors(args.data / folder / f"{name}.npz", max_words=args.words) for name in ("en", language)]
        if order == "shuffled":  # as in words.py: the order inside the frequent words is destroyed
            sides = [side.take(shuffled_order(len(side), first=5000, rng=2 * seed + k)) for k, side in enumerate(sides)]
        rows = []
        for name, values in (("shipped", SHIPPED), ("frozen", frozen)):
            with constants(values):
                how = change(recipe("best", ordered=order == "ordered"), values)
                model = learn(sides[0], sides[1], how=how, rng=seed, device=args.device, keep=TOP)
            x, y = (place(np.asarray(side[:TOP], dtype=np.float32), args.device) for side in model.clouds)
            muse = args.data / "muse"
            forth, back = (
                score(*clouds, find_gold(read_dictionary(muse / f"{way}.5000-6500.txt"), *words)[0])
                for way, clouds, words in (
                    (f"en-{language}", (x, y), (model.source, model.target)),
                    (f"{language}-en", (y, x), (model.target, model.source)),
                )
            )
            rows.append({"set": folder, "pair": f"en-{language}", "order": order, "seed": seed, "constants": name,
                         "forth": round(forth, 2), "back": round(back, 2), "verdict": model.verdict.word,
                         "commit": describe_commit()})  # fmt: skip
        fresh = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerows(rows)
        print(*rows, sep="\n", flush=True)
    write(args.out)


def write(out: Path) -> None:
    """Write the page: what was chosen and why, and what the test split says of both."""
    told = json.loads((out / "frozen.json").read_text())
    with (out / "frozen_choice.csv").open() as file:
        chosen = list(csv.DictReader(file))
    with (out / "frozen_test.csv").open() as file:
        rows = list(csv.DictReader(file))
    ways = [name for name in chosen[0] if name[-1] in "→←"]
    lines = ["# Constants chosen on other pairs", "",
             *header("python benchmarks/frozen.py choose --data DATA; python benchmarks/frozen.py test --data DATA"),
             "The constants of the word pipeline had been chosen on the MUSE train dictionaries of the table's own pairs. Here they are "
             "chosen on pairs outside it, one after the other ([frozen_choice.csv](frozen_choice.csv), every value that was tried), and "
             "frozen; then the test split of the table is scored with both ([frozen_test.csv](frozen_test.csv)).", "",
             f"Chosen at commit {told['commit']}; verdicts of the pairs: "
             + ", ".join(f"{name} {word}" for name, word in told["pairs"].items()) + ".", "",
             "| | " + " | ".join(START) + " |", "|---" * (len(START) + 1) + "|"]  # fmt: skip
    for name, values in (("start", START), ("frozen", told["constants"]), ("shipped", SHIPPED)):
        lines.append(f"| {name} | " + " | ".join(f"{values[one]:g}" for one in START) + " |")
    lines += ["", "P@1 on the pairs they were chosen on:", "", "| | " + " | ".join(ways) + " | mean |",
              "|---" * (len(ways) + 2) + "|"]  # fmt: skip
    for name, values in (("start", START), ("frozen", told["constants"]), ("shipped", SHIPPED)):
        row = next(row for row in chosen if all(float(row[one]) == values[one] for one in START))
        lines.append(f"| {name} | " + " | ".join(row[way] for way in (*ways, "mean")) + " |")
    lines += ["", "P@1 with CSLS on the MUSE test split, 20,000 × 20,000 words; mean over seeds, frozen − shipped in brackets:", "",
              "| vectors | pair | rows | seeds | shipped en→x | frozen en→x | shipped x→en | frozen x→en |", "|---" * 8 + "|"]  # fmt: skip
    gaps = []
    for key in dict.fromkeys((row["set"], row["pair"], row["order"]) for row in rows):
        some = {name: [row for row in rows if (row["set"], row["pair"], row["order"], row["constants"]) == (*key, name)]
                for name in ("shipped", "frozen")}  # fmt: skip
        means = {
            (name, way): float(np.mean([float(row[way]) for row in some[name]]))
            for name in some
            for way in ("forth", "back")
        }
        cells = []
        for way in ("forth", "back"):
            gap = means["frozen", way] - means["shipped", way]
            gaps.append(gap)
            cells += [f"{means['shipped', way]:.2f}", f"{means['frozen', way]:.2f} ({gap:+.2f})"]
        lines.append(f"| {' | '.join(key)} | {len(some['frozen'])} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"Mean of all lines: {np.mean(gaps):+.2f} points with the frozen constants; worst {min(gaps):+.2f}, best {max(gaps):+.2f}.",
    ]
    print(write_page(out / "frozen.md", lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("choose", "test", "page"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pairs", nargs="+", choices=list(OUTSIDE), default=list(OUTSIDE))
    parser.add_argument("--sets", nargs="+", default=["europarl100", "europarl300"])
    parser.add_argument("--languages", nargs="+", default=["es", "fr", "de"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--words", type=int, default=50_000, help="words read; those after the first 20,000 help the fit"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    if args.part == "page":
        write(args.out)
        return
    if args.data is None:
        parser.error("--data: expected the folder of the vectors")
    (choose if args.part == "choose" else test)(args)


if __name__ == "__main__":
    main()
