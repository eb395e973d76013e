"""Two files of 200,000 × 300 through ``invarot align``: seconds of each stage and peak memory.

    python benchmarks/scale_words.py --data DATA [--words 200000] [--folder FOLDER] [--evaluate]

The files hold the Europarl vectors of English and Spanish (DATA/europarl300) and, to fill them up, made-up rare words: noisy
mixtures of two real ones, drawn for each language alone, so that they match nothing. The command runs in a process of its
own, as typed; the MUSE test words score what came out among the first 20,000 words. Writes results/scale_words.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from invarot.experiments.provenance import describe_commit
from invarot.retrieval import evaluate
from invarot.translation import load
from invarot.words import Gold, read_dictionary, read_vectors, write_vectors

TOP = 20_000
LANGUAGES = ("en", "es")


def make(source: Path, target: Path, count: int, seed: int) -> None:
    """The real words first, then mixtures."""
    held = read_vectors(source)
    rng = np.random.default_rng(seed)
    spare = max(0, count - len(held))
    pairs = rng.integers(0, len(held), (spare, 2))
    share = rng.uniform(0.2, 0.8, (spare, 1)).astype(np.float32)
    real = np.asarray(held.vectors, dtype=np.float32)
    mixed = share * real[pairs[:, 0]] + (1 - share) * real[pairs[:, 1]]
    mixed += rng.standard_normal(mixed.shape, dtype=np.float32) * (0.5 * float(real.std()))
    words = [*held.words[:count], *(f"mix{k}" for k in range(spare))]
    write_vectors(target, words, np.concatenate([real[:count], mixed]), format="vec")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, help="where the made files are kept; a temporary one by default")
    parser.add_argument("--evaluate", action="store_true", help="time ``invarot evaluate`` over all words too")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        folder = args.folder or Path(spare)
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{name}.{args.words}.vec" for name in LANGUAGES]
        for seed, (name, file) in enumerate(zip(LANGUAGES, files, strict=True)):
            if not file.exists():
                make(args.data / "europarl300" / f"{name}.npz", file, args.words, seed)
        model = folder / "model"
        before = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "invarot", "align", *map(str, files), "-o", str(model), "--json", "--quiet"],
            stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        wall = time.perf_counter() - before
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20  # kB on Linux
        said = json.loads(done.stdout)
        scoring = None
        if args.evaluate:
            before = time.perf_counter()
            dictionary = args.data / "muse" / "en-es.5000-6500.txt"
            subprocess.run(
                [sys.executable, "-m", "invarot", "evaluate", str(model), "--dictionary", str(dictionary), "--json"],
                stdout=subprocess.PIPE, check=True,
            )  # fmt: skip
            scoring = round(time.perf_counter() - before, 1)
        learned = load(model)
        x, y = (side[:TOP] for side in learned.clouds)
        listed = read_dictionary(args.data / "muse" / "en-es.5000-6500.txt")
        gold = Gold.from_pairs(listed, learned.source.words[:TOP], learned.target.words[:TOP])
        right = evaluate(x, y, gold.targets, at=(1,)).precision[1]
        found = {
            "command": "python benchmarks/scale_words.py --data DATA", "commit": describe_commit(),
            "words": said["words"], "megabytes": [round(file.stat().st_size / 1e6) for file in files],
            "seconds": {"all": round(wall, 1), **{step["name"]: step["seconds"] for step in said["steps"]}},
            "evaluate_seconds": scoring, "peak_gib": round(peak, 2),
            "verdict": said["verdict"]["word"], "probability": said["verdict"]["probability"],
            "precision@1": right, "threads": os.environ.get("OMP_NUM_THREADS"),
        }  # fmt: skip
    (args.out / "scale_words.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
