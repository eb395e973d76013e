"""Write Europarl vectors as files of MUSE's layout: wiki.en.vec, wiki.es.vec and dictionaries/, to try ``invarot reproduce words --muse``.

python benchmarks/muse_layout.py DATA muse-layout [--words 5000] [--language es]
invarot reproduce words --muse muse-layout --out results/reproduce/muse-layout --only "in order, seed 0"
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from invarot.words import read_vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=int, default=5000)
    parser.add_argument("--language", default="es")
    args = parser.parse_args()
    folder = args.out / "dictionaries"
    folder.mkdir(parents=True, exist_ok=True)
    for code in ("en", args.language):
        side = read_vectors(args.data / "europarl100" / f"{code}.npz", max_words=args.words)
        rows = (
            f"{word} {' '.join(f'{value:.6g}' for value in row)}\n"
            for word, row in zip(side.words, side.vectors, strict=True)
        )
        with (args.out / f"wiki.{code}.vec").open("w", encoding="utf-8") as stream:
            stream.write(f"{len(side)} {side.vectors.shape[1]}\n")
            stream.writelines(rows)
    for pair in (f"en-{args.language}", f"{args.language}-en"):
        for part in ("0-5000", "5000-6500"):
            shutil.copy(args.data / "muse" / f"{pair}.{part}.txt", folder)


if __name__ == "__main__":
    main()
