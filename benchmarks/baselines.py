"""Are the baselines what they say? Each on the Europarl vectors, beside known numbers where there are any.

    python benchmarks/baselines.py DATA [--device cuda] [--pairs en-es,en-fr,en-de] [--systems procrustes,self-learning]
                                   [--seeds 0,1,2]

DATA holds europarl100/{en,es,fr,de}.npz and muse/en-es.0-5000.txt, …; P@1 by CSLS on the MUSE test split, 20k × 20k
words. Other systems: pot (our Gromov–Wasserstein plan beside POT's, 300 words), wasserstein-procrustes (all of its
paper's iterations), gromov-wasserstein, adversarial (a GPU's work; ``--set beta=0.01`` and the like go to it, ``--raw``
gives it the vectors as they were trained, and its checkpoints are appended to baselines.adversarial.csv). Writes
results/baselines.json (a row a run, kept between calls) and results/baselines.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page

from invarot.arrays import Array, place, to_numpy
from invarot.baselines import adversarial, gromov_wasserstein, wasserstein_procrustes
from invarot.baselines.adversarial import Epoch
from invarot.baselines.gromov_wasserstein import AUTHORS, solve
from invarot.baselines.procrustes import procrustes_map
from invarot.baselines.self_learning import learn_maps
from invarot.experiments.provenance import describe_machine
from invarot.retrieval import evaluate
from invarot.words import Gold, Preprocessing, read_dictionary, read_vectors

EXPECTED = {
    "procrustes": {"en-es": 55.7, "en-fr": 53.7, "en-de": 48.6},
    "self-learning": {"en-es": 55.1, "en-fr": 54.0, "en-de": 48.4},
}
WORDS = 20_000
NAMES = (
    "system", "pair", "seed", "P@1 CSLS", "expected", "P@1 cosine", "queries", "iterations", "seconds", "device",
)  # fmt: skip
CHECKPOINT = ("settings", "pair", "seed", "epochs", "loss", "criterion", "rate", "p1", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pairs", default="en-es,en-fr,en-de")
    parser.add_argument("--systems", default="procrustes,self-learning")
    parser.add_argument("--seeds", default="0", help="separated by commas")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of adversarial")
    parser.add_argument("--raw", action="store_true", help="vectors as they were trained")
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    store = options.out / "baselines.json"
    options.out.mkdir(parents=True, exist_ok=True)
    rows = json.loads(store.read_text()) if store.exists() else []
    asked = [(system, pair, int(seed)) for system in options.systems.split(",") for pair in options.pairs.split(",")
             for seed in options.seeds.split(",")]  # fmt: skip
    for system, pair, seed in asked:
        for row in beside_pot(pair, options) if system == "pot" else [measure(system, pair, seed, options)]:
            rows = [one for one in rows if key(one) != key(row)]
            rows.append(row)
            store.write_text(json.dumps(rows, indent=1) + "\n")
            write_page(options.out / "baselines.md", page(rows, options.out / "baselines.adversarial.csv"))
            print(row, flush=True)


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["system"], row["pair"], row["seed"], row.get("epsilon")


def beside_pot(pair: str, options: argparse.Namespace, words: int = 300) -> list[dict[str, Any]]:
    """Our entropic Gromov–Wasserstein and POT's from one first plan, at epsilons small enough to leave it."""
    import ot

    x, y = (_frequent(options.data / "europarl100" / f"{code}.npz", words) for code in pair.split("-"))
    even, unit = np.full(words, 1 / words), float(np.mean(np.sum(x**2, axis=1)) * np.mean(np.sum(y**2, axis=1)))
    first = 0.5 * np.outer(even, even) + 0.5 * np.diag(even)
    rows = []
    for epsilon in (0.01, 0.005):
        begun = time.perf_counter()
        plan, steps, _ = solve(x, y, even, even, x.T @ first @ y, epsilon=epsilon * unit, max_iter=300, tol=1e-7,
                               plan_tol=1e-9, plan_max_iter=5000)  # fmt: skip
        seconds = time.perf_counter() - begun
        theirs = ot.gromov.entropic_gromov_wasserstein(x @ x.T, y @ y.T, even, even, "square_loss", G0=first, tol=1e-9,
                                                       epsilon=epsilon * unit, max_iter=300, solver="PGD")  # fmt: skip
        ours = plan.dense()
        rows.append({
            "system": "pot", "pair": pair, "seed": 0, "epsilon": epsilon, "iterations": len(steps),
            "seconds": round(seconds, 2),
            "largest difference": float(f"{words * np.abs(ours - theirs).max():.1e}"),
            "from the product plan": round(float(words * np.abs(theirs - first.mean()).max()), 3),
            "matches agree": float(np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1))),
        })  # fmt: skip
    return rows


def _frequent(path: Path, words: int) -> np.ndarray[Any, Any]:
    side = np.asarray(read_vectors(path, max_words=WORDS).vectors, dtype=np.float64)
    found: np.ndarray[Any, Any] = Preprocessing().fit_apply(side)[1][:words]
    return found - found.mean(axis=0)


def measure(system: str, pair: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    data, device = options.data, options.device
    source, target = (read_vectors(data / "europarl100" / f"{code}.npz", max_words=WORDS) for code in pair.split("-"))
    sides = [np.asarray(side.vectors, dtype=np.float32) for side in (source, target)]
    x, y = (place(side if options.raw else Preprocessing().fit_apply(side)[1], device) for side in sides)
    gold = Gold.from_pairs(read_dictionary(data / "muse" / f"{pair}.5000-6500.txt"), source.words, target.words)

    def score(left: Array, right: Array, method: str) -> float:
        left, right = (place(to_numpy(side), device) for side in (left, right))
        return 100 * evaluate(left, right, gold.targets, method=method).precision[1]

    begun, steps, name = time.perf_counter(), 1, system
    if system == "procrustes":
        train = Gold.from_pairs(read_dictionary(data / "muse" / f"{pair}.0-5000.txt"), source.words, target.words)
        left, right = x @ procrustes_map(x, y, train.pairs()), y
    elif system == "self-learning":
        learned = learn_maps(x, y, rng=seed)
        left, right, steps = x @ learned.x_map, y @ learned.y_map, len(learned.history)
    elif system == "adversarial":
        settings = {key: json.loads(value) for key, value in (one.split("=") for one in options.set)}
        label = " ".join([*options.set, *["raw"] * options.raw]) or "defaults"

        def note(epoch: Epoch) -> None:
            row = (label, pair, seed, epoch.epochs, epoch.discriminator_loss, epoch.criterion, epoch.rate,
                   score(x @ epoch.map, y, "csls"), round(time.perf_counter() - begun, 1))  # fmt: skip
            keep(options.out / "baselines.adversarial.csv", row)

        found = adversarial(x, y, checkpoints=4, rng=seed, on_epoch=note, **settings)
        left, right, steps, name = x @ found.map, y, len(found.history), f"adversarial ({label})"
    else:
        found = {"wasserstein-procrustes": wasserstein_procrustes, "gromov-wasserstein": _matched}[system](
            x, y, rng=seed
        )
        left, right, steps = x @ found.map, y, len(found.history)
    seconds = time.perf_counter() - begun
    return {"system": name, "pair": pair, "seed": seed, "device": device, "machine": describe_machine(),
            "seconds": round(seconds, 1), "iterations": steps, "queries": gold.queries,
            "P@1 CSLS": round(score(left, right, "csls"), 2), "P@1 cosine": round(score(left, right, "cosine"), 2),
            "expected": EXPECTED.get(system, {}).get(pair, "–")}  # fmt: skip


def _matched(x: Array, y: Array, *, rng: int) -> Any:
    return gromov_wasserstein(x, y, epsilon=AUTHORS, max_iter=1000, rng=rng)


def keep(path: Path, row: tuple[Any, ...]) -> None:
    """A checkpoint as soon as it is there."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if new:
            writer.writerow(CHECKPOINT)
        writer.writerow(row)
    print(row, flush=True)


def page(rows: list[dict[str, Any]], checkpoints: Path) -> list[str]:
    lines = [
        "# The baselines beside known numbers",
        "",
        *header("python benchmarks/baselines.py DATA [--device cuda] [--systems …]"),
        "Europarl vectors of 100 dimensions, 20,000 words a side, MUSE test split. *Expected* is what was measured before",
        "with other code: for self-learning VecMap's own program. Every row: [baselines.json](baselines.json).",
        "",
        *table(NAMES, [[row[name] for name in NAMES] for row in rows if row["system"] != "pot"]),
    ]
    beside = [row for row in rows if row["system"] == "pot"]
    if beside:
        names = ("pair", "epsilon", "iterations", "largest difference", "from the product plan", "matches agree")
        lines += [
            "",
            "## Gromov–Wasserstein beside POT",
            "",
            "`--systems pot`: the first 300 words of each side, the same first plan and epsilon (relative to",
            "E‖x‖²·E‖y‖²), and `ot.gromov.entropic_gromov_wasserstein`. Differences are of entries of the plan, times",
            "300: of a word's whole mass.",
            "",
            *table(names, [[row[name] for name in names] for row in beside]),
        ]
    if checkpoints.exists():
        with checkpoints.open(encoding="utf-8") as stream:
            kept = list(csv.DictReader(stream))
        lines += [
            "",
            "## Adversarial training, by checkpoint",
            "",
            "`--systems adversarial --device cuda --set NAME=VALUE`, a million words an epoch, four checkpoints in",
            "each; every one is in [baselines.adversarial.csv](baselines.adversarial.csv). *Chosen*: the checkpoint of",
            "best criterion, which needs no labels. Runs side by side are those of the translation table. All were made",
            "on one shared H200 (TF32 products); those of fewer than five epochs were stopped by the clock.",
            "",
            *table(
                ("settings", "pair", "seed", "epochs run", "chosen at", "its criterion", "P@1 chosen", "P@1 last"),
                chosen(kept),
            ),
        ]
    return lines


def table(names: tuple[str, ...], rows: list[list[Any]]) -> list[str]:
    return [
        "| " + " | ".join(one) + " |" for one in (names, ["---"] * len(names), *([str(v) for v in r] for r in rows))
    ]


def chosen(rows: list[dict[str, str]]) -> list[list[Any]]:
    """One line a run: where its criterion was best, and what that and the last checkpoint were worth."""
    found = []
    for run in dict.fromkeys((row["settings"], row["pair"], row["seed"]) for row in rows):
        some = [row for row in rows if (row["settings"], row["pair"], row["seed"]) == run]
        best = max(some, key=lambda row: float(row["criterion"]))
        found.append([*run, some[-1]["epochs"], best["epochs"], f"{float(best['criterion']):.3f}",
                      f"{float(best['p1']):.1f}", f"{float(some[-1]['p1']):.1f}"])  # fmt: skip
    return found


if __name__ == "__main__":
    main()
