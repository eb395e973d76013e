"""English GloVe 100-d with Russian fiction (navec hudlit, 300-d): can the right map be found by the objective alone?

    python benchmarks/fiction.py --data DATA [--parts known auto lifted pooled] [--axes 12 14 16] [--device cuda] [--out results]

DATA holds glove/en-glove100.npz and navec/hudlit.npz. Tokens that are not words are dropped; unit → centre → unit; the solve sees
the first ``--words`` words of each language, in random order. Labels (everyday.en-ru.txt, our own list) only score.

*known*: the list as known pairs in the solve: the objective that a right answer has. *auto*: ``align`` with ``--effort``. *lifted*: for
each number of leading axes (*pooled*: for all of them together), ``--starts`` patterns of signs are annealed in few dimensions, ``--lifted`` different ends are carried
to all dimensions and raced there on ``--points`` points, in two heats; the best few are solved in full. A row a part and number of axes
goes to fiction.csv as it is done; a run that was stopped goes on. ``near`` is the mean cosine of the list's words with their
translations, under the answer, less that with others.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from growing_rows import add_row, read_rows
from hard_pair import unit, words_only

import invarot
from invarot.alignment.loop.stages import subproblem
from invarot.alignment.options import Schatten, Sinkhorn
from invarot.alignment.problem import distinct, pose
from invarot.alignment.search.heats import run_heat
from invarot.arrays import as_like, namespace, place, to_numpy
from invarot.experiments.provenance import describe_commit
from invarot.starts import leading

FIELDS = ("part", "axes", "seed", "words", "candidates", "objective", "rank", "p_at_1", "near", "verdict", "seconds", "device", "commit")  # fmt: skip
SOLVED = 12  # candidates solved in full
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", default=["known", "lifted", "auto"])
    parser.add_argument("--axes", type=int, nargs="+", default=[14, 12, 16, 10])
    parser.add_argument("--words", type=int, default=5000)
    parser.add_argument("--starts", type=int, default=4096)
    parser.add_argument("--lifted", type=int, default=256)
    parser.add_argument("--points", type=int, default=1500)
    parser.add_argument("--effort", default="high")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    path = args.out / "fiction.csv"
    done = {(row["part"], row["axes"], row["seed"]) for row in read_rows(path)}
    words = Words(args)
    for part in args.parts:
        together = "+".join(map(str, args.axes)) if part == "pooled" else 0
        for axes in args.axes if part == "lifted" else [together]:
            if (part, str(axes), str(args.seed)) in done:
                continue
            begun = time.perf_counter()
            found = PARTS[part](words, args, axes)
            row = {
                "part": part, "axes": axes, "seed": args.seed, "words": args.words, "device": args.device,
                "seconds": round(time.perf_counter() - begun, 1), "commit": describe_commit(), **found,
            }  # fmt: skip
            add_row(path, row, FIELDS)
            print(row, flush=True)


class Words:
    """Both languages, and the list by its rows."""

    def __init__(self, args: argparse.Namespace) -> None:
        (en, x), (ru, y) = (words_only(args.data / name) for name in ("glove/en-glove100.npz", "navec/hudlit.npz"))
        rng = np.random.default_rng(args.seed)
        orders = [rng.permutation(min(args.words, len(one))) for one in (en, ru)]
        self.x, self.y = unit(x[orders[0]]), unit(y[orders[1]])
        places = [{words[row]: k for k, row in enumerate(order)} for words, order in zip((en, ru), orders, strict=True)]
        lines = (Path(__file__).parent / "everyday.en-ru.txt").read_text(encoding="utf-8").split()
        asked = [(a, b) for a, b in zip(lines[::2], lines[1::2], strict=True) if a in places[0] and b in places[1]]
        self.pairs = np.asarray([(places[0][a], places[1][b]) for a, b in asked])

    def score(self, w: Any) -> Row:
        """P@1 of the list in percent, and how much nearer its words are to their translations than to others."""
        z, y = self.x[self.pairs[:, 0]] @ to_numpy(w), self.y
        cosines = z @ y.T / np.linalg.norm(z, axis=1, keepdims=True)
        own = cosines[np.arange(len(z)), self.pairs[:, 1]]
        right = cosines.argmax(axis=1) == self.pairs[:, 1]
        return {"p_at_1": round(100 * float(right.mean()), 1), "near": round(float(own.mean() - cosines.mean()), 4)}


def known(words: Words, args: argparse.Namespace, _: Any) -> Row:
    guided = invarot.align(words.x, words.y, seeds=words.pairs, device=args.device, rng=args.seed)
    # solved on without the pairs: the objective of a solve that knows nothing
    found = invarot.align(words.x, words.y, start=guided.map, device=args.device, rng=args.seed)
    return {"candidates": 1, "objective": round(found.objective, 5), "verdict": found.verdict.word, **words.score(found.map)}  # fmt: skip


def auto(words: Words, args: argparse.Namespace, _: Any) -> Row:
    found = invarot.align(words.x, words.y, effort=args.effort, device=args.device, rng=args.seed)
    best = max(record.objective for record in found.starts)
    print([(record.name, round(record.objective, 4)) for record in found.starts if record.finished], f"{best:.4f}")
    return {"candidates": len(found.starts), "objective": round(found.objective, 5), "verdict": found.verdict.word, **words.score(found.map)}  # fmt: skip


def pooled(words: Words, args: argparse.Namespace, _: str) -> Row:
    return lifted(words, args, *args.axes)


def lifted(words: Words, args: argparse.Namespace, *axes: int) -> Row:
    rng = np.random.default_rng(args.seed)
    x, y = (place(side, args.device) for side in (words.x, words.y))
    xp = namespace(x)
    a, b = (xp.ones_like(points[:, 0]) / points.shape[0] for points in (x, y))
    clock = time.perf_counter()
    maps = leading(
        x, y, a, b, rng=rng, axes=axes, n_starts=args.starts, n_centroids=400, n_points=2000, finalists=args.lifted
    )
    clock = tell(f"{maps.shape[0]} candidates lifted from {axes} axes", clock)
    problem = pose(x, y, a, b, maps=Schatten(), solver=Sinkhorn())
    coarse = subproblem(problem, args.points, rng)
    nears = [float(words.score(one)["near"]) for one in maps]
    best = int(np.argmax(nears))
    order = np.arange(len(nears))
    for budget, kept in ((problem.budgets.first_heat, args.lifted // 4), (problem.budgets.race, SOLVED)):
        maps, values, *_ = run_heat(coarse, maps, budget.within_rounding(coarse.x, coarse.cost_scale), rng, 1)
        ranked = np.argsort(-values, kind="stable")
        place_of = int(np.flatnonzero(order[ranked] == best)[0]) + 1 if best in order[ranked] else 0
        kept_rows = distinct(coarse, maps, ranked, kept)
        print(f"  heat: {values.max():.4f} to {values.min():.4f}; nearest to the list ({nears[best]:.3f}) is {place_of} of {len(ranked)}")  # fmt: skip
        maps, order = maps[as_like(np.asarray(kept_rows), x, dtype=xp.int64)], order[kept_rows]
    clock = tell("heats", clock)
    found = invarot.align(words.x, words.y, start=to_numpy(maps), device=args.device, rng=args.seed)
    tell(f"{maps.shape[0]} solved in full", clock)
    print([round(record.objective, 4) for record in found.starts])
    return {"candidates": len(nears), "objective": round(found.objective, 5), "rank": place_of, "verdict": found.verdict.word, **words.score(found.map)}  # fmt: skip


def tell(what: str, since: float) -> float:
    now = time.perf_counter()
    print(f"  {what}: {now - since:.1f} s", flush=True)
    return now


PARTS = {"known": known, "auto": auto, "lifted": lifted, "pooled": pooled}

if __name__ == "__main__":
    main()
