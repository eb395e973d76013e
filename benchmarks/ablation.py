"""What every tuned number and every pass of the solver is worth: each number halved and doubled, each pass switched off.

    OMP_NUM_THREADS=1 python -m benchmarks.ablation --data DATA --jobs 16 --device cuda --minutes 8
    OMP_NUM_THREADS=1 python -m benchmarks.ablation --sets synthetic --most 20       # a part of it, on two cores
    OMP_NUM_THREADS=1 python -m benchmarks.ablation --data DATA --passes             # the passes alone
    OMP_NUM_THREADS=1 python -m benchmarks.ablation --data DATA --sets "hard pair" pairs words --jobs 12 --device cuda --minutes 8
    OMP_NUM_THREADS=1 python -m benchmarks.ablation --data DATA --numbers SAME_ANSWER --sets words   # one number alone
    python -m benchmarks.ablation --summarise                                         # the page again, from the rows there are

Problems: benchmarks/ablation_problems.py. Numbers: those of ``alignment/tuning.py``; what is derived from one changes with it. A
variant is compared with the solver as it is on the same problems. The passes come first, on all problems, then the numbers; the sets
take turns, in the order in which they are named. Every process writes its rows as they come, raw/ablation.PROCESS.csv, and begins with
any of its numbers, so that a run that is stopped has rows of every kind; then tuning.md is written, whose part below the mark stays.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import pkgutil
import re
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from zlib import crc32

sys.path.insert(0, str(Path(__file__).parent))

from ablation_page import summarise
from ablation_problems import SETS, WORDS, Task, list_tasks, open_problem

from invarot import alignment
from invarot.alignment import tuning

FIELDS = ("set", "problem", "variant", "seconds", "score", "solved", "word", "objective")
PASSES = {  # module, name, and what takes its place
    "no swap_matches": ("improve.improve", "swap_matches", lambda problem, candidate: None),
    "no settle": ("improve.improve", "settle", lambda problem, candidate: None),
    "no sharpen": ("improve.improve", "sharpen", lambda problem, candidate: None),
    "no follow_neighbours": ("improve.improve", "follow_neighbours", lambda problem, candidate: None),
    "no symmetries counted": ("judging.judge", "count_symmetries", lambda problem, w, known: 0),
    "no plain starts beside those asked for": ("search.search", "FEW_POINTS", 0),
    "no test that ends a race": ("search.search", "explains_unseen", lambda problem, w, rng: False),
}
SEEDS = {"verdict": 6, "part": 3, "hard pair": 2}  # else one
PARTS = 6  # into which the variants of one large problem are cut, so that several processes share them
Changes = list[tuple[Any, str, Any]]
Job = tuple[str, Task, int, list[str]]  # set, problem, part, its variants


def tuned_numbers() -> dict[str, Any]:
    """The numbers of tuning.py that are derived from no other."""
    text = Path(tuning.__file__).read_text(encoding="utf-8").partition("\n# derived")[0]
    return {name: getattr(tuning, name) for name in re.findall(r"^([A-Z_]+) = ", text, re.MULTILINE)}


def derive(name: str, value: Any) -> dict[str, Any]:
    """All numbers of tuning.py where one of them has another value."""
    text = Path(tuning.__file__).read_text(encoding="utf-8")
    changed_text, count = re.subn(rf"^{name} = [^#\n]*", f"{name} = {value!r}  ", text, flags=re.MULTILINE)
    assert count == 1, f"{name}: expected one line in tuning.py, got {count}"
    found: dict[str, Any] = {}
    exec(compile(changed_text, tuning.__file__, "exec"), found)
    return {key: one for key, one in found.items() if key.isupper()}


def scale(name: str, value: Any, factor: float) -> Any:
    """A number halved or doubled; a decay to half or twice the steps, counts at least 1."""
    if isinstance(value, tuple):
        return tuple(scale(name, one, factor) for one in value)
    if name == "DECAY":
        return value ** (1 / factor)
    return max(1, round(factor * value)) if isinstance(value, int) else factor * value


def list_variants() -> dict[str, Changes]:
    """What each variant sets: (module, name, value)."""
    rooms = [
        importlib.import_module(one.name) for one in pkgutil.walk_packages(alignment.__path__, "invarot.alignment.")
    ]
    found: dict[str, Changes] = {"as it is": []}
    for name, value in tuned_numbers().items():
        for label, factor in (("half", 0.5), ("double", 2.0)):
            new = derive(name, scale(name, value, factor))
            found[f"{name} {label}"] = [
                (room, key, one) for room in rooms for key, one in new.items() if getattr(room, key, one) != one
            ]
    for label, (module, name, new) in PASSES.items():
        found[label] = [(importlib.import_module(f"invarot.alignment.{module}"), name, new)]
    return found


@contextmanager
def changed(changes: Changes) -> Iterator[None]:
    before = [(room, name, getattr(room, name)) for room, name, _ in changes]
    try:
        for room, name, value in changes:
            setattr(room, name, value)
        yield
    finally:
        for room, name, value in before:
            setattr(room, name, value)


def cut_variants(family: str, passes: bool, chosen: list[str]) -> list[list[str]]:
    """Parts of the variants, each of which one process runs on one problem: the passes, then the numbers; or the ``chosen`` numbers."""
    numbers = [
        name
        for name in list_variants()
        if name != "as it is" and name not in PASSES and (not chosen or name.split()[0] in chosen)
    ]
    parts = PARTS if family in WORDS else 1
    dealt = [] if passes else [numbers[part::parts] for part in range(parts)]
    return dealt if chosen else [list(PASSES), *dealt]


def list_jobs(args: argparse.Namespace) -> list[Job]:
    """All parts in the order in which they begin: the passes first, the sets in turn, should time run out."""
    queues: dict[bool, list[list[Job]]] = {True: [], False: []}
    for family in args.sets:
        tasks = list_tasks(family, range(args.first, args.first + SEEDS.get(family, 1)), args.data)
        tasks = tasks[:: max(1, len(tasks) // args.most)] if args.most else tasks
        jobs = [
            (family, task, part, names)
            for part, names in enumerate(cut_variants(family, args.passes, args.numbers))
            for task in tasks
        ]
        for first, queue in queues.items():
            queue.append([job for job in jobs if (job[2] == 0) == first])
    return [job for queue in queues.values() for turn in zip_longest(*queue) for job in turn if job is not None]


def run_task(family: str, task: Task, part: int, names: list[str], *, args: argparse.Namespace, until: float) -> int:
    """Run some variants on one problem, the solver as it is before them; return how many rows were written."""
    warnings.simplefilter("ignore")
    if time.time() > until:
        return 0
    solve, judge = open_problem(family, task, args.data, args.device)
    every = list_variants()
    first = crc32(repr(task).encode()) % len(names)
    names = names[first:] + names[:first]
    path = args.out / "raw" / f"ablation.{os.getpid()}.csv"
    rows = 0
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not file.tell():
            writer.writeheader()
        for variant in ["as it is", *names]:
            if time.time() > until:
                break
            clock = time.perf_counter if args.device != "cpu" and family in WORDS else time.process_time
            begun = clock()
            with changed(every[variant]):
                result = solve()
            spent = clock() - begun
            score, solved = judge(result)
            writer.writerow({
                "set": family, "problem": " ".join(map(str, (*task, part))), "variant": variant, "seconds": round(spent, 4),
                "score": round(score, 5), "solved": int(solved), "word": result.verdict.word, "objective": result.objective,
            })  # fmt: skip
            file.flush()
            rows += 1
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--first", type=int, default=200, help="first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600.0, help="no run is begun later")
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--device", default="cpu", help="of words, hard pair and pairs; SNARE-seq is small and stays on the CPU"
    )
    parser.add_argument("--most", type=int, help="only so many problems of each set, spread over all")
    parser.add_argument("--numbers", nargs="+", choices=list(tuned_numbers()), default=[], help="these alone, no pass")
    parser.add_argument("--passes", action="store_true", help="the passes alone: change no number")
    parser.add_argument("--summarise", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    raw = args.out / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    if not args.summarise:
        said = ["DATA" if one == str(args.data) else "OUT" if one == str(args.out) else one for one in sys.argv[1:]]
        with (raw / "ablation.command.txt").open("a", encoding="utf-8") as file:
            file.write(" ".join(said) + "\n")
        work = partial(run_task, args=args, until=time.time() + 60 * args.minutes)
        with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
            for running in as_completed([pool.submit(work, *job) for job in list_jobs(args)]):
                running.result()
    rows: list[dict[str, Any]] = []
    for path in sorted(raw.glob("ablation.*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += csv.DictReader(file)
    print(summarise(rows, args.out, SETS, list_variants()))


if __name__ == "__main__":
    main()
