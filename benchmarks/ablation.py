"""What every tuned number and every pass of the solver is worth: each number halved and doubled, each pass switched off.

    OMP_NUM_THREADS=1 python -m benchmarks.ablation --data DATA --jobs 16 --device cuda --minutes 8
    OMP_NUM_THREADS=1 python -m benchmarks.ablation --sets synthetic --most 20       # a part of it, on two cores
    python -m benchmarks.ablation --summarise                                         # the page again, from the rows there are

Problems: benchmarks/ablation_problems.py. Numbers: those of ``alignment/tuning.py``; what is derived from one changes with it. A
variant is compared with the solver as it is on the same problems. *wrong* counts maps that are called aligned and are not
right. Every process writes its rows as they come, raw/ablation.PROCESS.csv; then tuning.md is written, whose part below the mark stays.
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
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from ablation_problems import SETS, WORDS, Task, list_tasks, open_problem
from provenance import header, write_page

from invarot import alignment
from invarot.alignment import tuning

FIELDS = ("set", "problem", "variant", "seconds", "solved", "word", "objective")
PASSES = {  # module, name, and what takes its place
    "no swap_matches": ("improve.improve", "swap_matches", lambda problem, candidate: None),
    "no settle": ("improve.improve", "settle", lambda problem, candidate: None),
    "no sharpen": ("improve.improve", "sharpen", lambda problem, candidate: None),
    "no follow_neighbours": ("improve.improve", "follow_neighbours", lambda problem, candidate: None),
    "no symmetries counted": ("judging.judge", "count_symmetries", lambda problem, w, known: 0),
    "no plain starts beside those asked for": ("search.search", "FEW_POINTS", 0),
    "no test that ends a race": ("search.search", "explains_unseen", lambda problem, w, rng: False),
}
SEEDS = {"verdict": 6, "part": 3}  # where problems are small; else one
PARTS = 6  # into which the variants of one large problem are cut, so that several processes share them
Changes = list[tuple[Any, str, Any]]


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


def run_task(family: str, task: Task, part: int, parts: int, *, args: argparse.Namespace, until: float) -> int:
    """Run a part of the variants on one problem, the solver as it is among them; return how many rows were written."""
    warnings.simplefilter("ignore")
    if time.time() > until:
        return 0
    solve, solved = open_problem(family, task, args.data, args.device)
    every = list_variants()
    names = list(every)[1:][part::parts]
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
            writer.writerow({
                "set": family, "problem": " ".join(map(str, (*task, part))), "variant": variant, "seconds": round(spent, 4),
                "solved": int(solved(result)), "word": result.verdict.word, "objective": result.objective,
            })  # fmt: skip
            file.flush()
            rows += 1
    return rows


# -- the page ----------------------------------------------------------------------------------------------------------


def summarise(rows: list[dict[str, Any]], out: Path) -> str:
    """Write the page: a table per set, the variants that change nothing in one line."""
    commands = (out / "raw" / "ablation.command.txt").read_text(encoding="utf-8").splitlines()
    lines = ["# What each tuned number and each pass is worth", ""]
    lines += header(*(f"OMP_NUM_THREADS=1 python -m benchmarks.ablation {one}" for one in commands))
    for family in [name for name in SETS if any(row["set"] == name for row in rows)]:
        some = [row for row in rows if row["set"] == family]
        base = {row["problem"]: row for row in some if row["variant"] == "as it is"}
        lines += [f"## {family.capitalize()}", "", describe_base(list(base.values())), "",
                  "| variant | runs | solved, as it is | lost / gained | aligned and right, as it is | aligned and wrong, as it is | time, of that as it is |",
                  "|---|---|---|---|---|---|---|"]  # fmt: skip
        same = []
        for variant in dict.fromkeys(row["variant"] for row in some if row["variant"] != "as it is"):
            these = [row for row in some if row["variant"] == variant and row["problem"] in base]
            line, differs = compare(these, [base[row["problem"]] for row in these])
            if differs:
                lines.append(f"| {variant} | {line} |")
            else:
                same.append(f"{variant} ({line.rpartition('| ')[2]})")
        lines += [
            "",
            f"Nothing solved, called or missed differently, times in brackets: {', '.join(same) or 'none'}.",
            "",
        ]
    return write_page(out / "tuning.md", lines)


def describe_base(rows: list[dict[str, Any]]) -> str:
    different = {row["problem"].rpartition(" ")[0] for row in rows}
    right = sum(int(row["solved"]) for row in rows)
    return f"{len(different)} problems, {len(rows)} runs as it is, {right} of them right."


def compare(these: list[dict[str, Any]], base: list[dict[str, Any]]) -> tuple[str, bool]:
    """The cells of a variant, and whether it solved or called anything differently."""

    def count(rows: list[dict[str, Any]], right: bool) -> int:
        return sum(row["word"] == "aligned" and (int(row["solved"]) == 1) == right for row in rows)

    moved = [int(row["solved"]) - int(was["solved"]) for row, was in zip(these, base, strict=True)]
    called = [(count(rows, True), count(rows, False)) for rows in (these, base)]
    ratio = sum(float(row["seconds"]) for row in these) / max(sum(float(row["seconds"]) for row in base), 1e-9)
    solved = [sum(int(row["solved"]) for row in rows) for rows in (these, base)]
    line = (
        f"{len(these)} | {solved[0]}, {solved[1]} | {moved.count(-1)} / {moved.count(1)} | {called[0][0]}, {called[1][0]} | "
        f"{called[0][1]}, {called[1][1]} | {ratio:.2f}"
    )
    return line, any(moved) or called[0] != called[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--first", type=int, default=200, help="first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600.0, help="no run is begun later")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--device", default="cpu", help="of the words")
    parser.add_argument("--most", type=int, help="only so many problems of each set, spread over all")
    parser.add_argument("--summarise", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    raw = args.out / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    if not args.summarise:
        said = ["DATA" if one == str(args.data) else "OUT" if one == str(args.out) else one for one in sys.argv[1:]]
        (raw / "ablation.command.txt").write_text(" ".join(said) + "\n", encoding="utf-8")
        queues: list[list[tuple[str, Task, int, int]]] = []
        for family in reversed(args.sets):  # the largest first
            tasks = list_tasks(family, range(args.first, args.first + SEEDS.get(family, 1)), args.data)
            tasks = tasks[:: max(1, len(tasks) // args.most)] if args.most else tasks
            parts = PARTS if family in WORDS else 1
            queues.append([(family, task, part, parts) for task in tasks for part in range(parts)])
        jobs = [job for turn in zip_longest(*queues) for job in turn if job is not None]  # in turn, should time run out
        work = partial(run_task, args=args, until=time.time() + 60 * args.minutes)
        with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
            for done in [pool.submit(work, *job) for job in jobs]:
                done.result()
    rows: list[dict[str, Any]] = []
    for path in sorted(raw.glob("ablation.*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += csv.DictReader(file)
    print(summarise(rows, args.out))


if __name__ == "__main__":
    main()
