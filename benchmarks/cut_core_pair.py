"""Cut the English–Spanish pair that ships with the package, and measure what its compression costs.

    python benchmarks/cut_core_pair.py DATA            # DATA holds europarl100/{en,es}.npz and muse/en-es.*.txt

Writes src/invarot/data/core_{en,es}.npz and results/core_pair.md. The dictionaries of MUSE are used to measure and are
not shipped; the gold list beside the files is written by hand and is only checked here.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page

from invarot.words import Gold, Preprocessing, Vectors, read_dictionary, read_vectors
from invarot.words.core import CODE_LIMIT, encode_rows, load_core_pair

WORDS = 5000
ROOT = Path(__file__).resolve().parents[1]


def cut(source: Path, target: Path) -> Vectors:
    """Write the most frequent words with encoded vectors; return them as they were."""
    whole = read_vectors(source, max_words=WORDS)
    codes, scales = encode_rows(whole.vectors)
    np.savez_compressed(target, words=np.array(whole.words), codes=codes, scales=scales)
    return whole


def supervised_precision(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], train: Gold, test: Gold) -> float:
    """P@1 (CSLS, 10 neighbours) of the orthogonal map fitted on ``train``, per cent of the queries of ``test``."""
    x, y = Preprocessing().fit_apply(x)[1], Preprocessing().fit_apply(y)[1]
    left, right = zip(*train.pairs(), strict=True)
    u, _, vt = np.linalg.svd(x[list(left)].T @ y[list(right)])
    similarity = (x @ (u @ vt)) @ y.T
    density = np.partition(similarity, -10, axis=0)[-10:].mean(axis=0)
    best = (2 * similarity - density).argmax(axis=1)
    return 100 * float(np.mean([best[row] in rights for row, rights in test.targets.items()]))


def main(data: Path) -> None:
    folder = ROOT / "src" / "invarot" / "data"
    english = cut(data / "europarl100" / "en.npz", folder / "core_en.npz")
    spanish = cut(data / "europarl100" / "es.npz", folder / "core_es.npz")
    shipped_english, shipped_spanish, pairs = load_core_pair()
    train, test = (
        Gold.from_pairs(read_dictionary(data / "muse" / f"en-es.{part}.txt"), english.words, spanish.words)
        for part in ("0-5000", "5000-6500")
    )
    gold = Gold.from_pairs(pairs, english.words, spanish.words)
    missing = sorted({left for left, _ in pairs} - {english.words[row] for row in gold.targets})
    if missing or len(gold.pairs()) != len(set(pairs)):
        raise SystemExit(f"gold.txt has words outside the vocabularies: {missing}")

    versions = {
        "as trained (float16)": (english.vectors, spanish.vectors),
        "as shipped (6 bits a value)": (shipped_english.vectors, shipped_spanish.vectors),
    }
    lines = [
        "# The core pair: what its compression costs",
        "",
        *header("python benchmarks/cut_core_pair.py DATA"),
        f"Supervised Procrustes fitted on the MUSE train pairs inside the two vocabularies ({train.queries} words), "
        "CSLS, P@1 in per cent:",
        "",
        f"| vectors | MUSE test split ({test.queries} queries) | MUSE train split ({train.queries}) | "
        f"our gold list ({gold.queries}) |",
        "|---|---|---|---|",
    ]
    for name, (x, y) in versions.items():
        scores = " | ".join(f"{supervised_precision(x, y, train, part):.1f}" for part in (test, train, gold))
        lines.append(f"| {name} | {scores} |")
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.*")) if path.suffix in (".npz", ".txt")}
    listing = ", ".join(f"{name} {size:,} bytes" for name, size in sizes.items())
    lines += [
        "",
        f"Sizes: {listing}; together {sum(sizes.values()):,} bytes (codes from −{CODE_LIMIT} to {CODE_LIMIT}).",
        "",
    ]
    print(write_page(ROOT / "results" / "core_pair.md", lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with europarl100/ and muse/")
    main(parser.parse_args().data)
