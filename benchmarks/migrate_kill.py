"""Is a migration that is killed lost? kill -9 at random moments of the copy that ``invarot migrate --map-store`` makes.

    python benchmarks/migrate_kill.py [--kills 30] [--rows 20000]
    python benchmarks/migrate_kill.py --million

The map is given, so that every kill falls on the copy and not on the solve; the same program is started again until it ends. Then
every row has to be in the destination once, with its id, payload and mapped vector, and the source has to have the bytes it had.
``--million`` streams a million vectors from a .npy file to a Parquet file and a LanceDB table, and prints the peak memory of the process.
Writes results/migrate_kill.md, or results/migrate_million.md.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page

from invarot import migration, stores
from invarot.stores import Batch, Info

PLACES = ("{0}/new.npz", "{0}/new.parquet", "{0}/new.faiss", "lancedb:{0}/lance#new", "qdrant:{0}/qdrant#new", "chroma:{0}/chroma#new")  # fmt: skip
BATCH = 500
FEWER = {"qdrant": 10}  # a local Qdrant folder syncs every row to disk: a tenth of the rows, in batches of a tenth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    if args.million:
        stream(args.out)
    else:
        kill(args)


def kill(args: argparse.Namespace) -> None:
    lines = ["# Migrations that are killed", "", *header("python benchmarks/migrate_kill.py")]
    lines += [
        f"kill -9 at random moments while {args.rows} rows of 32 dimensions are written in batches of {BATCH}; then the same program again.", "",
        "| destination | kills | of them inside the writing | lost | twice | wrong vector, id or payload | source bit-identical |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    for number, place in enumerate(PLACES):
        kills = args.kills // len(PLACES) + (number < args.kills % len(PLACES))
        with tempfile.TemporaryDirectory() as folder:
            less = FEWER.get(place.partition(":")[0], 1)
            lines.append(try_place(Path(folder), place, kills, args.rows // less, BATCH // less, rng))
        print(lines[-1], flush=True)
    write_page(args.out / "migrate_kill.md", lines)


def stream(out: Path) -> None:
    lines = ["# A million vectors through a migration", "", *header("python benchmarks/migrate_kill.py --million"),
             "One million vectors, 256 dimensions (1.0 GB of float32), from a .npy file, in a process of its own.", "",
             "| destination | s | rows/s | peak memory of the process, MB |", "|---|---|---|---|"]  # fmt: skip
    for place in ("{0}/new.parquet", "lancedb:{0}/lance#new"):
        with tempfile.TemporaryDirectory() as folder:
            lines.append(stream_million(Path(folder), place))
        print(lines[-1], flush=True)
    write_page(out / "migrate_million.md", lines)


def make_source(folder: Path, rows: int) -> None:
    """Two models of clustered points; the old store has ids and payload, and its adapter is already known."""
    rng = np.random.default_rng(0)
    old = stores.open(folder / "old.npz")
    old.begin(Info(rows, 32), rows)
    vectors = rng.normal(size=(rows, 32)).astype(np.float32)
    old.append(Batch(list(range(7, rows + 7)), vectors, [{"n": k, "text": f"text {k}"} for k in range(rows)]))
    old.finish()
    np.save(folder / "sample.npy", rng.normal(size=(100, 48)))
    turn = np.linalg.qr(rng.normal(size=(48, 48)))[0][:32].astype(np.float32)
    migration.Adapter(turn, {"sample": str(folder / "sample.npy")}).save(folder / "map.safetensors")


# what the command does after its solve, with the same map each time
COPY = """
import sys
from invarot import migration, stores
folder, place, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
old, sample, new = stores.open(folder + "/old.npz"), stores.open(folder + "/sample.npy"), stores.open(place)
adapter = migration.find_unfinished(old, sample, new)
print("begun" if adapter is None else "going on", flush=True)
migration.map_store(old, new, adapter or migration.load(folder + "/map.safetensors"), size=size,
                    info=migration.sample.draw(old, 1, __import__("numpy").random.default_rng(0)).info if adapter is None else None,
                    on_rows=lambda rows: print(rows, flush=True))
"""


def try_place(folder: Path, place: str, kills: int, rows: int, size: int, rng: np.random.Generator) -> str:
    make_source(folder, rows)
    source = folder / "old.npz"
    before = [digest(path) for path in (source, folder / "old.npz.rows.jsonl")]
    address = place.format(folder)
    quiet = run_until(folder, address.replace("new", "timed"), None, size)  # how long it takes undisturbed
    inside = 0
    for _ in range(kills):
        inside += run_until(folder, address, float(rng.uniform(0, 1.2 * quiet[1] / max(kills, 1))), size)[0]
        if finished(folder, address):  # it ended before the kill: start again
            store = stores.open(address)
            store.drop()
            store.close()
            migration.journal_of(stores.open(address)).unlink(missing_ok=True)
    if not finished(folder, address):
        run_until(folder, address, None, size)
    lost, twice, wrong = compare(folder, address, rows)
    same = before == [digest(path) for path in (source, folder / "old.npz.rows.jsonl")]
    kind = place.split(":")[0] if ":" in place else place.split(".")[-1]
    return f"| {kind}, {rows} rows | {kills} | {inside} | {lost} | {twice} | {wrong} | {'yes' if same else 'NO'} |"


def run_until(folder: Path, address: str, seconds: float | None, size: int) -> tuple[int, float]:
    """Run the copy; kill it this long after its first row was written. Returns whether it was killed, and how long it wrote."""
    command = [sys.executable, "-W", "ignore", "-c", COPY, str(folder), address, str(size)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()  # imports and journal are behind it
    begun = time.perf_counter()
    if seconds is None:
        for _ in process.stdout:
            pass
        assert process.wait() == 0, "the copy failed"
        return 0, time.perf_counter() - begun
    try:
        process.wait(seconds)
        return 0, seconds
    except subprocess.TimeoutExpired:
        process.kill()  # SIGKILL
        process.wait()
        return 1, seconds


def finished(folder: Path, address: str) -> bool:
    journal = migration.journal_of(stores.open(address))
    return journal.exists() and migration.load(journal).facts.get("state") == "complete"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rows_of(address: str) -> Iterator[tuple[int, Any, dict[str, Any]]]:
    for batch in stores.open(address).read(1000):
        yield from zip((int(id) for id in batch.ids), batch.vectors, batch.payload, strict=True)


def compare(folder: Path, address: str, rows: int) -> tuple[int, int, int]:
    """Count rows that are lost, twice and wrong; vectors up to their length, which Qdrant makes 1."""
    turn = migration.load(folder / "map.safetensors").map
    expected = {id: (vector @ turn, payload) for id, vector, payload in rows_of(str(folder / "old.npz"))}
    seen: dict[int, int] = {}
    wrong = 0
    for id, vector, payload in rows_of(address):
        seen[id] = seen.get(id, 0) + 1
        right, kept = expected.get(id, (np.zeros(48), None))
        cosine = float(vector @ right / (np.linalg.norm(vector) * np.linalg.norm(right) + 1e-30))
        wrong += cosine < 1 - 1e-5 or payload != kept
    return len(expected.keys() - seen.keys()), sum(count - 1 for count in seen.values()), wrong


MILLION = """
import re, sys, time
from invarot import migration, stores
folder, place = sys.argv[1:]
begun = time.perf_counter()
migration.map_store(stores.open(folder + "/old.npy"), stores.open(place), migration.load(folder + "/map.safetensors"),
                    info=stores.Info(1_000_000, 256, whole_ids=True, payload=False))
# not ru_maxrss, which a process inherits from its parent
print(time.perf_counter() - begun, int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def stream_million(folder: Path, place: str) -> str:
    rng = np.random.default_rng(0)
    table = np.lib.format.open_memmap(folder / "old.npy", "w+", np.float32, (1_000_000, 256))
    for row in range(0, len(table), 10_000):
        table[row : row + 10_000] = rng.normal(size=(10_000, 256))
    table.flush()
    del table
    turn = np.linalg.qr(rng.normal(size=(256, 256)))[0].astype(np.float32)
    migration.Adapter(turn).save(folder / "map.safetensors")
    command = [sys.executable, "-W", "ignore", "-c", MILLION, str(folder), place.format(folder)]
    seconds, peak = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    kind = place.split(":")[0] if ":" in place else place.split(".")[-1]
    return f"| {kind} | {seconds:.0f} | {1e6 / seconds:.0f} | {peak:.0f} |"


if __name__ == "__main__":
    main()
