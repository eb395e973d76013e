"""What every tuned number and every pass of the solver is worth: each number halved and doubled, each pass switched off.

    OMP_NUM_THREADS=1 python benchmarks/ablation.py
    python benchmarks/ablation.py --data DATA --device cuda        # on word vectors instead
    python benchmarks/ablation.py --summarise                      # the page again, from the rows there are

Synthetic problems: noisy copies (four kinds of cloud, 3 to 100 dimensions, 50 and 200 points), two samples of one shape,
unrelated clouds, copies of 4,000 points, and single random starts on few points. A run is *solved* where it finds as many
matches as a solve from the true map less 1 %, or a map at most 10 % farther off. Words: 5,000 of each side, orders destroyed;
solved where P@1 is within 2 points of the solve from the supervised map. *wrong* counts maps that are called aligned and
are not solved. Numbers are those of ``alignment/tuning.py``; the whole run of a variant is beside the run as it is, on the
same problems. Writes raw/ablation.csv (a row a run) and tuning.md.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import itertools
import pkgutil
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page
from synthetic import KINDS, cloud, map_error

import invarot
from invarot import alignment
from invarot.alignment import tuning

FIELDS = ("set", "problem", "variant", "seconds", "solved", "word", "objective")
PASSES = {  # module, name, and what takes its place
    "no swap_matches": ("improve.improve", "swap_matches", lambda problem, candidate: None),
    "no sharpen": ("improve.improve", "sharpen", lambda problem, candidate: None),
    "no symmetries counted": ("judging.judge", "count_symmetries", lambda problem, w, known: 0),
    "no plain starts beside those asked for": ("search.search", "COMPARED_POINTS", 0),
    "no test that ends a race": ("search.search", "explains_unseen", lambda problem, w, rng: False),
}
WORDS = {f"europarl100-{language}": ("europarl100/en", f"europarl100/{language}") for language in ("es", "fr", "de")}
WORDS["glove-fasttext"] = ("glove/en-glove100", "glove/fr-fasttext300")
WORDS["navec"] = ("navec/hudlit", "navec/news")
Task = tuple[Any, ...]


def modules() -> list[Any]:
    return [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(alignment.__path__, "invarot.alignment.")
        if found.name != tuning.__name__
    ]


def variants() -> dict[str, list[tuple[Any, str, Any]]]:
    """What each variant sets: (module, name, value)."""
    rooms = modules()
    found: dict[str, list[tuple[Any, str, Any]]] = {"as it is": []}
    for name, value in vars(tuning).items():
        if not name.isupper():
            continue
        for label, factor in (("half", 0.5), ("double", 2.0)):
            new = tuple(factor * one for one in value) if isinstance(value, tuple) else factor * value
            if name == "DECAY":
                new = value**2 if factor < 1 else value**0.5
            if isinstance(value, int):
                new = max(1, round(new))
            found[f"{name} {label}"] = [(room, name, new) for room in rooms if hasattr(room, name)]
    for label, (module, name, new) in PASSES.items():
        found[label] = [(importlib.import_module(f"invarot.alignment.{module}"), name, new)]
    return found


@contextmanager
def changed(changes: list[tuple[Any, str, Any]]) -> Iterator[None]:
    before = [(room, name, getattr(room, name)) for room, name, _ in changes]
    try:
        for room, name, value in changes:
            setattr(room, name, value)
        yield
    finally:
        for room, name, value in before:
            setattr(room, name, value)


# -- synthetic problems ------------------------------------------------------------------------------------------------


def synthetic_tasks(seeds: int) -> list[Task]:
    found: list[Task] = []
    for seed in range(seeds):
        found += [
            ("copies", kind, d, n, noise, seed)
            for kind, d, n, noise in itertools.product(KINDS, (3, 10, 30, 100), (50, 200), (0.05, 0.2))
        ]
        found += [
            ("samples", kind, d, n, 0.0, seed)
            for kind, d, n in itertools.product(("clustered", "surface"), (3, 10, 30), (50, 200))
        ]
        found += [("unrelated", kind, d, 200, 0.0, seed) for kind, d in itertools.product(KINDS, (3, 30))]
        found += [("random start", kind, d, 30, 0.1, seed) for kind, d in itertools.product(KINDS, (3, 5, 30))]
    found += [("many points", kind, 50, 4000, 0.1, 0) for kind in ("gaussian", "clustered")]
    return found


def synthetic_problem(task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, dict[str, Any]]:
    case, kind, d, n, noise, seed = task
    rng = np.random.default_rng([seed, n, d, KINDS.index(kind)])
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    shape = seed * 1000 + d
    x = cloud(kind, n, d, rng, np.random.default_rng(shape))
    options: dict[str, Any] = {"start": "random"} if case == "random start" else {}
    if case == "samples":
        return x, cloud(kind, int(1.2 * n), d, rng, np.random.default_rng(shape)) @ turn, turn, None, options
    if case == "unrelated":
        other = KINDS[(KINDS.index(kind) + 1 + seed % 3) % 4]
        return x, cloud(other, n, d, rng, np.random.default_rng(shape + 7)) @ turn, turn, None, options
    order = rng.permutation(n)
    y = (x @ turn)[order]
    y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
    return x, y, turn, np.argsort(order), options


def run_synthetic(task: Task) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    x, y, turn, truth, options = synthetic_problem(task)
    best = invarot.align(x, y, start=turn)

    def solved(result: invarot.Alignment) -> bool:
        if task[0] == "unrelated":
            return False
        if truth is None:
            return map_error(x, result.map, turn) <= 1.1 * map_error(x, best.map, turn) + 1e-3
        return bool(np.mean(result.matches() == truth) >= np.mean(best.matches() == truth) - 0.01)

    return run_variants("synthetic", task, lambda: invarot.align(x, y, rng=task[-1], **options), solved)


def run_variants(
    family: str, task: Task, solve: Callable[[], invarot.Alignment], solved: Callable[[invarot.Alignment], bool]
) -> list[dict[str, Any]]:
    rows = []
    for variant, changes in variants().items():
        with changed(changes):
            begun = time.process_time() if family == "synthetic" else time.perf_counter()
            result = solve()
            spent = (time.process_time() if family == "synthetic" else time.perf_counter()) - begun
        rows.append({
            "set": family, "problem": " ".join(map(str, task)), "variant": variant, "seconds": round(spent, 4),
            "solved": int(solved(result)), "word": result.verdict.word, "objective": result.objective,
        })  # fmt: skip
    return rows


# -- word vectors ------------------------------------------------------------------------------------------------------


def run_words(task: Task) -> list[dict[str, Any]]:
    from invarot.arrays import as_like, place
    from invarot.retrieval.metrics import evaluate
    from invarot.words import Preprocessing, read_vectors

    warnings.simplefilter("ignore")
    name, seed, data, device = task
    sides = [read_vectors(data / f"{side}.npz", max_words=5000) for side in WORDS[name]]
    x, y = (Preprocessing().fit_apply(side.vectors)[1] for side in sides)
    index = [side.index() for side in sides]
    language = {"glove-fasttext": "fr", "navec": None}.get(name, name.partition("-")[2])
    pairs = [(word, word) for word in index[0]]
    if language:
        lines = (data / "muse" / f"en-{language}.0-5000.txt").read_text(encoding="utf-8").splitlines()
        pairs = [(line.split()[0], line.split()[1]) for line in lines]
    gold: dict[int, set[int]] = {}
    for source, target in pairs:
        if source in index[0] and target in index[1]:
            gold.setdefault(index[0][source], set()).add(index[1][target])
    known = [(i, j) for i, many in gold.items() for j in many]
    rows, columns = (list(side) for side in zip(*known, strict=True))
    u, _, vt = np.linalg.svd(x[rows].T @ y[columns], full_matrices=False)
    order = np.random.default_rng(seed).permutation(len(x))
    here, there = place(x[order], device), place(y, device)
    whole = place(x, device)

    def score(w: Any) -> float:
        return evaluate(whole @ as_like(w, whole), there, gold, at=(1,)).precision[1]

    bar = score(invarot.align(here, there, start=u @ vt).map)
    return run_variants(
        "words",
        (name, seed),
        lambda: invarot.align(here, there, rng=seed),
        lambda found: score(found.map) >= bar - 0.02,
    )


# -- the page ----------------------------------------------------------------------------------------------------------


def summarise(rows: list[dict[str, Any]], out: Path) -> str:
    lines = ["# What each tuned number and each pass is worth", "", *header(
        "OMP_NUM_THREADS=1 python benchmarks/ablation.py",
    )]  # fmt: skip
    for family in sorted({row["set"] for row in rows}):
        some = [row for row in rows if row["set"] == family]
        base = {row["problem"]: row for row in some if row["variant"] == "as it is"}
        lines += [f"## {family.capitalize()}: {len(base)} problems", "",
                  "| variant | solved | lost / gained | called aligned, solved | called aligned, wrong | seconds, of those as it is |",
                  "|---|---|---|---|---|---|"]  # fmt: skip
        for variant in dict.fromkeys(row["variant"] for row in some):
            these = [row for row in some if row["variant"] == variant and row["problem"] in base]
            was = [base[row["problem"]] for row in these]
            solved = [int(row["solved"]) for row in these]
            moved = [int(row["solved"]) - int(before["solved"]) for row, before in zip(these, was, strict=True)]
            aligned = [row["word"] == "aligned" for row in these]
            ratio = sum(float(row["seconds"]) for row in these) / sum(float(row["seconds"]) for row in was)
            right = sum(a and s for a, s in zip(aligned, solved, strict=True))
            lines.append(f"| {variant} | {sum(solved)} | {moved.count(-1)} / {moved.count(1)} | {right} | "
                         f"{sum(aligned) - right} | {ratio:.2f} |")  # fmt: skip
        lines.append("")
    return write_page(out / "tuning.md", lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pairs", nargs="+", choices=tuple(WORDS), default=list(WORDS))
    parser.add_argument("--most", type=int, help="only so many problems, spread over all")
    parser.add_argument("--summarise", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    raw = args.out / "raw" / "ablation.csv"
    raw.parent.mkdir(parents=True, exist_ok=True)
    if not args.summarise:
        work: Callable[[Task], list[dict[str, Any]]] = run_synthetic
        tasks = synthetic_tasks(args.seeds)
        if args.data is not None:
            work, args.jobs = run_words, 1
            tasks = [(name, seed, args.data, args.device) for seed in range(args.seeds) for name in args.pairs]
        if args.most:
            tasks = tasks[:: max(1, len(tasks) // args.most)]
        fresh = not raw.exists()
        with raw.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS)
            if fresh:
                writer.writeheader()
            if args.jobs == 1:
                for task in tasks:
                    writer.writerows(work(task))
                    file.flush()
            else:
                with ProcessPoolExecutor(args.jobs) as pool:
                    for rows in pool.map(work, tasks):
                        writer.writerows(rows)
                        file.flush()
    with raw.open(newline="", encoding="utf-8") as file:
        print(summarise(list(csv.DictReader(file)), args.out))


if __name__ == "__main__":
    main()
