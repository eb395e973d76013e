"""How fast and in how much memory text vectors are read, beside gensim on the same file.

    python benchmarks/reading.py [--words 50000] [--dimension 300] [--rounds 5]

Every reading runs in a process of its own, the readers in turn, and reports its time and its peak resident memory above
that of the same process before reading. Writes results/reading.md and results/reading.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from provenance import header, write_page

ROOT = Path(__file__).resolve().parents[1]
STYLES = {"4 decimals": "%.4f", "6 decimals": "%.6f", "5 significant digits": "%.5g"}
READERS = {
    "gensim": (
        "from gensim.models import KeyedVectors",
        "table = KeyedVectors.load_word2vec_format(path).vectors",
    ),
    "invarot": (
        "from invarot.words import read_vectors",
        "table = read_vectors(path).vectors",
    ),
}
PROCESS = """
import json, resource, sys, time
{imports}
path = sys.argv[1]
with open(path, "rb") as stream:  # both readers find the file in the page cache
    while stream.read(1 << 24):
        pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start, busy = time.perf_counter(), time.process_time()
{read}
seconds, busy = time.perf_counter() - start, time.process_time() - busy
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(dict(seconds=seconds, cpu=busy, peak_mib=(peak - before) / 1024, result_mib=table.nbytes / 2**20,
                      total=float(abs(table).sum(dtype="f8")))))
"""


def make_file(path: Path, words: int, dimension: int, style: str) -> None:
    """Random vectors of word2vec's usual size, as text."""
    rng = np.random.default_rng(0)
    pattern = " ".join([style] * dimension)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(f"{words} {dimension}\n")
        for row in range(words):
            stream.write(f"word{row} " + pattern % tuple((0.2 * rng.standard_normal(dimension)).tolist()) + "\n")


def read_once(reader: str, path: Path) -> dict[str, float]:
    imports, read = READERS[reader]
    code = PROCESS.format(imports=imports, read=read)
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    command = f"python benchmarks/reading.py --words {options.words} --dimension {options.dimension}"
    lines = [
        "# Reading text vectors",
        "",
        *header(f"{command} --rounds {options.rounds}"),
        f"{options.words:,} words, {options.dimension} values each, word2vec text with header; each reading in a "
        f"process of its own, the two readers in turn, median of {options.rounds} (range in brackets). Memory: peak "
        f"above the process before reading. Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{platform.machine()}; the machine was shared with other work, so the ratio of processor time stands beside "
        "that of the clock. Every reading: [reading.json](reading.json).",
        "",
        "| numbers | file, MiB | gensim, s | invarot, s | times faster, clock | processor | result, MiB | "
        "gensim peak | invarot peak |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    record: dict[str, object] = {"command": command, "rounds": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, style in STYLES.items():
            path = Path(folder) / "vectors.vec"
            make_file(path, options.words, options.dimension, style)
            rounds: dict[str, list[dict[str, float]]] = {reader: [] for reader in READERS}
            for _ in range(options.rounds):
                for reader in READERS:
                    rounds[reader].append(read_once(reader, path))
            totals = {found["total"] for runs in rounds.values() for found in runs}
            if len(totals) != 1:
                raise SystemExit(f"the readers disagree about the numbers: {totals}")
            record["rounds"][name] = rounds  # type: ignore[index]
            seconds = {reader: sorted(found["seconds"] for found in runs) for reader, runs in rounds.items()}
            middle = {reader: statistics.median(times) for reader, times in seconds.items()}
            peak = {reader: max(found["peak_mib"] for found in runs) for reader, runs in rounds.items()}
            busy = {reader: statistics.median(found["cpu"] for found in runs) for reader, runs in rounds.items()}
            shown = {r: f"{middle[r]:.2f} ({seconds[r][0]:.2f}–{seconds[r][-1]:.2f})" for r in READERS}
            lines.append(
                f"| {name} | {path.stat().st_size / 2**20:.0f} | {shown['gensim']} | {shown['invarot']} | "
                f"{middle['gensim'] / middle['invarot']:.1f} | {busy['gensim'] / busy['invarot']:.1f} | "
                f"{rounds['invarot'][0]['result_mib']:.0f} | "
                f"{peak['gensim']:.0f} | {peak['invarot']:.0f} |"
            )
            print(lines[-1], flush=True)
    write_page(ROOT / "results" / "reading.md", lines)
    (ROOT / "results" / "reading.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
