"""Start to refined map, 20,000 words, 100-d: invarot beside the self-learning baseline on the same machine.

    python benchmarks/against_self_learning.py --data DIR [--iterations 529] [--timed 8] [--out results]

Self-learning runs for a few iterations; its whole time is computed from the mean iteration and the number a full run needs
(529 for en-es, seed 0: results/baselines.md). Writes against_self_learning.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page

from invarot.baselines.self_learning import learn_maps
from invarot.threads import own_threads
from invarot.translation import learn
from invarot.words import Preprocessing, read_vectors

WORDS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with europarl100/")
    parser.add_argument("--iterations", type=int, default=529)
    parser.add_argument("--timed", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    whole = [read_vectors(args.data / "europarl100" / f"{name}.npz") for name in ("en", "es")]
    cut = [side.first(WORDS) for side in whole]

    ours: dict[str, float] = {}
    for name, sides in (("20,000 words", cut), ("and all further words in the fit", whole)):
        seconds = []
        for _ in range(args.repeats):
            begin = time.perf_counter()
            learn(*sides, keep=WORDS)
            seconds.append(time.perf_counter() - begin)
        ours[name] = statistics.median(seconds)
        print(name, seconds, flush=True)

    x, y = (Preprocessing().fit_apply(np.asarray(side.vectors, dtype=np.float32))[1] for side in cut)
    marks: list[float] = []

    def mark(_: Any) -> None:
        marks.append(time.perf_counter())

    begin = time.perf_counter()
    with own_threads():
        learn_maps(x, y, max_iter=args.timed, on_step=mark)
    each = (marks[-1] - marks[0]) / (len(marks) - 1)
    theirs = marks[0] - begin + (args.iterations - 1) * each
    print("self-learning", each, "s an iteration", theirs, flush=True)

    lines = ["# Start to refined map beside self-learning", "",
             *header(f"python benchmarks/against_self_learning.py --data DIR --repeats {args.repeats}"),
             f"Europarl en-es, 100-d, {WORDS:,} × {WORDS:,} words, CPU. Self-learning: {args.timed} iterations timed ({each:.2f} s each), "
             f"{args.iterations} needed, so {theirs:.0f} s (computed).", "", "| invarot | s | self-learning / invarot |", "|---|---|---|"]  # fmt: skip
    lines += [f"| {name} | {seconds:.1f} | {theirs / seconds:.0f} |" for name, seconds in ours.items()]
    write_page(args.out / "against_self_learning.md", lines)


if __name__ == "__main__":
    main()
