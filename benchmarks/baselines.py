"""Are the baselines what they say? Procrustes and self-learning on the Europarl vectors, beside known numbers.

    python benchmarks/baselines.py DATA [--device cuda] [--pairs en-es,en-fr,en-de] [--systems procrustes,self-learning]

DATA holds europarl100/{en,es,fr,de}.npz and muse/en-es.0-5000.txt, …; P@1 by CSLS on the MUSE test split, 20k × 20k words.
Writes results/baselines.json (a row a run, kept between calls) and results/baselines.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

from invarot.arrays import place, to_numpy
from invarot.baselines.procrustes import procrustes_map
from invarot.baselines.self_learning import learn_maps
from invarot.retrieval import evaluate
from invarot.words import Gold, Preprocessing, read_dictionary, read_vectors

EXPECTED = {
    "procrustes": {"en-es": 55.7, "en-fr": 53.7, "en-de": 48.6},
    "self-learning": {"en-es": 55.1, "en-fr": 54.0, "en-de": 48.4},
}
WORDS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pairs", default="en-es,en-fr,en-de")
    parser.add_argument("--systems", default="procrustes,self-learning")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    store = options.out / "baselines.json"
    options.out.mkdir(parents=True, exist_ok=True)
    rows = json.loads(store.read_text()) if store.exists() else []
    for system in options.systems.split(","):
        for pair in options.pairs.split(","):
            row = measure(options.data, system, pair, options.device, options.seed)
            rows = [one for one in rows if (one["system"], one["pair"], one["seed"]) != (system, pair, options.seed)]
            rows.append(row)
            store.write_text(json.dumps(rows, indent=1) + "\n")
            (options.out / "baselines.md").write_text(page(rows))
            print(row, flush=True)


def measure(data: Path, system: str, pair: str, device: str, seed: int) -> dict[str, object]:
    source, target = (read_vectors(data / "europarl100" / f"{code}.npz", max_words=WORDS) for code in pair.split("-"))
    x, y = (place(Preprocessing().fit_apply(side.vectors)[1], device) for side in (source, target))
    gold = Gold.from_pairs(read_dictionary(data / "muse" / f"{pair}.5000-6500.txt"), source.words, target.words)
    begun, steps = time.perf_counter(), 1
    if system == "procrustes":
        train = Gold.from_pairs(read_dictionary(data / "muse" / f"{pair}.0-5000.txt"), source.words, target.words)
        left, right = x @ procrustes_map(x, y, train.pairs()), y
    else:
        found = learn_maps(x, y, rng=seed)
        left, right, steps = x @ found.x_map, y @ found.y_map, len(found.history)
    seconds = time.perf_counter() - begun
    scores = {
        method: 100 * evaluate(place(to_numpy(left), device), place(to_numpy(right), device), gold.targets,
                               method=method).precision[1]
        for method in ("csls", "cosine")
    }  # fmt: skip
    return {"system": system, "pair": pair, "seed": seed, "device": device, "machine": platform.machine(),
            "seconds": round(seconds, 1), "iterations": steps, "queries": gold.queries,
            "P@1 CSLS": round(scores["csls"], 2), "P@1 cosine": round(scores["cosine"], 2),
            "expected": EXPECTED[system][pair]}  # fmt: skip


def page(rows: list[dict[str, object]]) -> str:
    names = [
        "system",
        "pair",
        "seed",
        "P@1 CSLS",
        "expected",
        "P@1 cosine",
        "queries",
        "iterations",
        "seconds",
        "device",
    ]
    lines = [
        "# The baselines beside known numbers",
        "",
        "Command: `python benchmarks/baselines.py DATA [--device cuda]`, Europarl vectors of 100 dimensions, 20,000 words a side,",
        "MUSE test split. *Expected* is what was measured before with other code: for self-learning VecMap's own program.",
        "",
        "| " + " | ".join(names) + " |",
        "|" + "---|" * len(names),
        *("| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
