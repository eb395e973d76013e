"""Run hostile input in bulk and write what came of it: ``python -m tests.fuzz --out results/fuzz.md``, or ``make fuzz``.

Case number i is made from the seed i, so that a failure can be run again alone: ``--kinds readers --first 720 --readers 1``. A case may
take ``--hang`` seconds of processor time, and ten times as long by the clock; ``--jobs`` processes share the seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from provenance import header, write_page  # beside the benchmarks, which this is not

from invarot.experiments.provenance import describe_commit

MEMORY = 2 << 30  # bytes of address space
TOLD = 1000  # cases after which a line says how it goes
SHOWN = 3  # cases of each failure that are listed
KINDS = {
    "readers": (
        100_000,
        "damaged, forged and random files of vectors through `read_vectors`, a few through `read_dictionary`, a fifth files of "
        "points through `read_cloud`",
    ),
    "stores": (
        20_000,
        "damaged files of stores (.npy, .npz, .safetensors, with pyarrow also .parquet and .arrow) through `stores.open`",
    ),
    "saved": (20_000, "damaged saved models, and forged ones whose checksums agree, loaded and used"),
    "aligns": (
        20_000,
        "`align` of small odd clouds with random options; warnings of other libraries count as failures",
    ),
    "kills": (
        200,
        "SIGKILL in the middle of `align`, `align --checkpoint`, `export`, `migrate` and `migrate --force`, then the same command again",
    ),
}


class Hang(BaseException):
    """A case took longer than it may."""


def main() -> None:
    args = parse()
    # the default pool of Arrow reserves addresses by the gibibyte, which the limit on them does not leave
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    found = {}
    shared = (
        "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    )  # opening a file takes longer on a disk than reading it
    for kind in args.kinds:
        with tempfile.TemporaryDirectory(dir=shared) as folder:
            found[kind] = run_jobs(kind, getattr(args, kind), args, Path(folder))
        print(json.dumps({kind: found[kind]}), flush=True)
        if args.out is not None:
            write_results(args.out, kind, found[kind])
    raise SystemExit(any(one["failures"] for one in found.values()))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.fuzz")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--first", type=int, default=0, help="the seed of the first case")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="for each kind, after which it stops")
    parser.add_argument("--hang", type=int, default=60, help="seconds of processor time that a case may take")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path)
    for kind, (count, text) in KINDS.items():
        parser.add_argument(f"--{kind}", type=int, default=count, help=f"cases: {text}")
    return parser.parse_args()


def prepare(kind: str, folder: Path) -> Callable[[Random], str]:
    """Return the function that tries one case."""
    from . import aligns, kills, saved_files, store_files, vector_files

    if kind == "aligns":
        return aligns.try_align
    if kind == "kills":
        return kills.Kills(folder).try_kill
    if kind == "stores":
        return lambda rng: store_files.try_store(rng, folder)
    if kind == "saved":
        models = saved_files.make_models(folder)
        return lambda rng: saved_files.try_saved(rng, folder, models)
    return lambda rng: vector_files.try_file(rng, folder)


def run_jobs(kind: str, count: int, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Share the seeds among processes, and add up what they found; a process that dies fails all of its cases."""
    parts = []
    for job in range(args.jobs):
        low, high = (args.first + count * k // args.jobs for k in (job, job + 1))
        own = folder / str(job)
        own.mkdir()
        child = os.fork()
        if not child:
            code = 1
            try:
                (folder / f"{job}.json").write_text(json.dumps(run(prepare(kind, own), low, high, args)))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        parts.append((child, folder / f"{job}.json", low, high))
    found = []
    for child, told, low, high in parts:
        _, status = os.waitpid(child, 0)
        if status == 0:
            found.append(json.loads(told.read_text()))
        else:
            died = {f"the process died with status {status}": [f"{low} to {high - 1}"]}
            found.append(
                {"ended": {"failed": high - low}, "failures": died, "seconds": 0, "slowest": [0.0, low], "peak_mib": 0}
            )
    ended: Counter[str] = sum((Counter(one["ended"]) for one in found), Counter())
    failures: dict[str, list[str]] = {}
    for one in found:
        for what, seeds in one["failures"].items():
            failures.setdefault(what, []).extend(seeds)
    return {
        "cases": sum(ended.values()), "asked": count, "first": args.first, "ended": dict(ended), "failures": failures,
        "processes": args.jobs, "seconds": max(one["seconds"] for one in found),
        "slowest": max(one["slowest"] for one in found), "peak_mib": max(one["peak_mib"] for one in found),
    }  # fmt: skip


def run(work: Callable[[Random], str], low: int, high: int, args: argparse.Namespace) -> dict[str, Any]:
    """Try the seeds from ``low`` to below ``high``; return how many ended how, and the failures with their seeds."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _raise_hang)
    count = high - low
    ended: Counter[str] = Counter()
    failures: dict[str, list[str]] = {}
    begun, slowest = time.perf_counter(), (0.0, 0)
    for seed in range(low, high):
        start, spent = time.perf_counter(), time.process_time()
        if start - begun > 60 * args.minutes:
            break
        signal.setitimer(signal.ITIMER_PROF, args.hang)
        signal.alarm(10 * args.hang)  # a case that waits takes no processor time
        try:
            ended[work(Random(seed))] += 1
        except KeyboardInterrupt:
            break  # what was run is reported
        except BaseException as error:
            ended["failed"] += 1
            failures.setdefault(describe(error), []).append(str(seed))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
        slowest = max(slowest, (time.process_time() - spent, seed))
        if (seed + 1 - low) % TOLD == 0:
            print(
                f"{seed + 1 - low:,} of {count:,} from {low} · {dict(ended)} · {failures}", file=sys.stderr, flush=True
            )
    return {
        "ended": dict(ended), "failures": failures, "seconds": round(time.perf_counter() - begun),
        "slowest": [round(slowest[0], 1), slowest[1]],
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }  # fmt: skip


def describe(error: BaseException) -> str:
    """Name a failure by its type and the line of ours that it came from."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if f"invarot{os.sep}" in frame.filename]
    where = f"{Path(ours[-1].filename).name}, {ours[-1].name}" if ours else "the check of the result"
    return f"{type(error).__name__}: {str(error).splitlines()[0][:90] if str(error) else ''} ({where})"


def _raise_hang(*_: Any) -> None:
    raise Hang("took too long")


def write_results(path: Path, kind: str, one: dict[str, Any]) -> None:
    """Write the last result of each kind: rows beside the page, then the page from all of them."""
    store = path.with_suffix(".json")
    found = json.loads(store.read_text()) if store.exists() else {}
    found[kind] = {"commit": describe_commit(), **one}
    found = {name: found[name] for name in KINDS if name in found}
    store.write_text(json.dumps(found, indent=1) + "\n")
    write_page(path, make_page(found))


def make_page(found: dict[str, Any]) -> list[str]:
    """Return the lines of the page of results."""
    lines = ["# Hostile input", "", *header("make fuzz")]
    lines += [
        f"Address space is limited to {MEMORY >> 30} GiB. Case i is made from seed i; what each row tries is said below.",
        "",
    ]
    lines += [
        "| | cases run | of | failed | how the others ended | seconds | processes | slowest case, processor time | peak memory | commit |"
    ]
    lines += ["|---|---|---|---|---|---|---|---|---|---|"]
    for kind, one in found.items():
        others = ", ".join(f"{name} {count:,}" for name, count in sorted(one["ended"].items()) if name != "failed")
        lines.append(
            f"| {kind} | {one['cases']:,} | {one['asked']:,} | {one['ended'].get('failed', 0):,} | {others} | {one['seconds']:,} | {one.get('processes', 1)} | "
            f"{one['slowest'][0]} s (seed {one['slowest'][1]}) | {one['peak_mib']:,} MiB | {one['commit']} |"
        )
    lines += ["", *(f"* {kind}: {KINDS[kind][1]}" for kind in found)]
    for kind, one in found.items():
        if one["failures"]:
            lines += ["", f"## Failures of {kind}", "", "| times | what | seeds |", "|---|---|---|"]
            for what, seeds in sorted(one["failures"].items(), key=lambda item: -len(item[1])):
                lines.append(f"| {len(seeds)} | {what} | {', '.join(seeds[:SHOWN])} |")
    return lines


if __name__ == "__main__":
    main()
