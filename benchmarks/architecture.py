"""The shape of the code in numbers: how far a call travels, how many rules there are, what is long or written twice.

    python benchmarks/architecture.py                # this checkout
    PYTHONPATH=OTHER/src python benchmarks/architecture.py --root OTHER
    python benchmarks/architecture.py --numbers      # every number of alignment/ that is not tuned, and why
    python benchmarks/architecture.py --stack        # the deepest stack, module by module

Prints the rows of the table in docs/architecture.md. A *tuned number* is any number written in alignment/ but 0, 1, 2 and ½,
unless `REASONS` says why it is none: the default of an option, a limit of floating point, part of a formula.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from names import numbers, shared_names, trees

ROOT = Path(__file__).parent.parent


def travel(package: Path) -> tuple[int, int, list[str]]:
    """Modules and functions that align(x, y) on 500 points enters; its deepest stack, modules but arrays and threads."""
    import invarot

    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(500, 10))
    y = x[::-1] @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    invarot.align(x, y)  # what is imported on first use, is
    seen: set[tuple[str, str]] = set()
    stack: list[str] = []
    deepest: list[str] = []
    everywhere = {str(package / "arrays.py"), str(package / "threads.py")}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        name = frame.f_code.co_filename
        if not name.startswith(str(package)):
            return
        if event == "call":
            seen.add((name, frame.f_code.co_name))
            stack.append(name)
            if len(set(stack) - everywhere) > len(deepest):
                deepest = [one for one in dict.fromkeys(stack) if one not in everywhere]
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(watch)
    try:
        invarot.align(x, y)
    finally:
        sys.setprofile(None)
    return len({name for name, _ in seen}), len(seen), [Path(one).relative_to(package).as_posix() for one in deepest]


def call_sites(found: dict[Path, ast.Module], name: str, argument: object = None) -> int:
    """Calls of a function, or of one with that first argument."""
    return sum(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == name
        and (argument is None or (len(node.args) > 0 and getattr(node.args[0], "value", None) == argument))
        for tree in found.values()
        for node in ast.walk(tree)
    )


SETTINGS = {
    "schedule", "epsilon", "decay", "floor", "tol", "max_iter", "plan_tol", "plan_max_iter", "memory", "proper", "name",
}  # fmt: skip


def hidden_variants(found: dict[Path, ast.Module]) -> int:
    """Calls of ``replace`` that change a setting of the caller, outside budget.py, which holds what a part may spend."""
    return sum(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "replace"
        and any(keyword.arg in SETTINGS for keyword in node.keywords)
        for path, tree in found.items()
        if path.name != "budget.py"
        for node in ast.walk(tree)
    )


# Numbers of alignment/ outside tuning.py, by file: why they are not tuned. A number that is not listed counts as tuned.
PLAIN = {0, 1, 2, 0.5}  # counting, doubling, halving, squares and their roots
REASONS: dict[str, dict[float, str]] = {
    "options.py": {1e-5: "option", 500: "option", 1e-3: "option", 50: "option", 1e300: "range", 1e6: "range"},
    "search/asked.py": {4: "option", 8: "option", 30: "option", 0.3: "option"},
    "result.py": {2000: "option", 150: "option"},
    "paper.py": {0.01: "the paper", 0.95: "the paper", 1000: "the paper"},
    "budget.py": {16: "rounding", 1e-30: "rounding"},
    "problem.py": {0.25: "range", 4: "half a spacing, squared"},
    "overlap.py": {
        0.25: "first quartile", 4: "two spacings, squared", 50: "range", 1e-12: "rounding", 1e-300: "rounding",
    },
    "package.py": {1.1: "rounding"},
    "evidence.py": {10: "rounding", 1e-30: "rounding"},
    "elsewhere.py": {1e-6: "rounding"},
    "neighbourhoods.py": {1e-9: "rounding"},
    "improve/swap_matches.py": {32: "nodes of an integral", 4: "formula", 1e-9: "rounding", 1e-6: "rounding"},
    "judging/rule.py": dict.fromkeys((1e-06, 0.0001, 1.5, 4, 5, 6, 10, 50), "range of a feature in the fit of the rule"),
    "judging/degenerate.py": {64: "rounding"},
    "judging/hints.py": {
        0.05: "5 to 95 % in 19 steps", 0.95: "same", 19: "same", 64: "rounding", 1e-9: "rounding", 1e-300: "rounding",
    },
    "loop/alternate.py": {1e-300: "rounding"},
    "loop/momentum.py": {3: "formula"},
    "loop/batches.py": {8: "block", 30: "block", 62: "random seeds"},
    "loop/partial.py": {64: "rounding", 1e-6: "rounding", 1e-9: "rounding", 1e-12: "rounding"},
    "search/heats.py": {1e-12: "range of single precision", 1e12: "same"},
    "search/clouds.py": {4: "half a spacing, squared"},
    "search/motions.py": {1e-12: "rounding", 1e-300: "rounding"},
    "many.py": {62: "random seeds", 3: "stack level of a warning"},
    "history.py": {3: "stack level of a warning"},
}  # fmt: skip


def tuned(solver: Path) -> tuple[int, list[str], list[str]]:
    """Tuned numbers of the solver: those of tuning.py and all others without a reason; these, and those with one, as lines.

    In tuning.py each number counts once, where it is assigned; what is derived below has none of its own but 1 and 2.
    """
    count, open_ones, told = 0, [], []
    for path, tree in trees(solver).items():
        name = path.relative_to(solver).as_posix()
        if name == "tuning.py":
            count = sum(_assigned(node.value) for node in tree.body if isinstance(node, ast.Assign))
            continue
        for number in numbers(tree):
            value = number.value
            if value in PLAIN:
                continue
            reason = REASONS.get(name, {}).get(value)  # type: ignore[arg-type]
            (told if reason else open_ones).append(f"{name}:{number.lineno}: {value!r} {reason or ''}".rstrip())
    return count + len(open_ones), open_ones, told


def _assigned(value: ast.expr) -> int:
    """Numbers of an assignment: one, or those of a tuple; those in a formula but 1 and 2."""
    if isinstance(value, ast.Constant):
        return 1
    if isinstance(value, ast.Tuple):
        return sum(_assigned(part) for part in value.elts)
    return sum(number.value not in PLAIN for number in numbers(value))


def named(folder: Path) -> int:
    """Numbers with a name in capitals at the top of the modules of a package."""
    count = 0
    for tree in trees(folder).values():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                names = [one for target in targets for one in getattr(target, "elts", [target])]
                if all(isinstance(one, ast.Name) and one.id.isupper() for one in names):
                    count += len(numbers(node.value))
    return count


def long_files(found: dict[Path, ast.Module], lines: int) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) > lines for path in found)


def long_functions(found: dict[Path, ast.Module], lines: int) -> int:
    """Functions of more lines than that, docstring and signature aside."""
    count = 0
    for tree in found.values():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                count += (body[-1].end_lineno or 0) - body[0].lineno + 1 > lines
    return count


def duplicate_pairs(folder: Path) -> str:
    """What the command ``duplicates`` counts, where there is one."""
    if shutil.which("duplicates") is None:
        return "–"
    out = subprocess.run(["duplicates", "--repo", str(folder)], capture_output=True, text=True, check=False).stdout
    first = out.splitlines()[0] if out else ""
    return "0" if first.startswith("no duplicates") else first.split()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--numbers", action="store_true")
    parser.add_argument("--stack", action="store_true")
    args = parser.parse_args()
    root = args.root.resolve()
    package = root / "src" / "invarot"
    import invarot

    assert Path(invarot.__file__).resolve().parent == package, f"PYTHONPATH does not lead to {package}"
    everything, solver = trees(package), trees(package / "alignment")
    count, open_ones, told = tuned(package / "alignment")
    if args.numbers:
        print("\n".join([*told, *(f"{one} TUNED" for one in open_ones)]))
        return
    modules, functions, deepest = travel(package)
    if args.stack:
        print(" → ".join(deepest))
        return
    rooms = {room: named(package / room) for room in ("starts", "geometry", "transport", "retrieval", "cells")}
    door = sum(p.kind is p.KEYWORD_ONLY for p in inspect.signature(invarot.align).parameters.values())
    estimator = inspect.signature(invarot.InvariantAligner).parameters
    rows = {
        "modules that `align(x, y)` on 500 points enters": modules,
        "functions it enters": functions,
        "modules in its deepest stack (arrays and threads, which all use, aside)": len(deepest),
        "places that call the alternation": call_sites(solver, "alternate"),
        "`replace(…)` in alignment/": call_sites(solver, "replace"),
        "of these, settings of the caller, outside budget.py": hidden_variants(solver),
        "`default_rng(0)` in alignment/, docstrings aside": call_sites(solver, "default_rng", argument=0),
        "tuned numbers in alignment/": count,
        "of these outside tuning.py": len(open_ones),
        "numbers with a name in other packages": ", ".join(f"{room} {some}" for room, some in rooms.items()),
        "names of numbers with two meanings": len(shared_names(package)),
        "keywords of `align`": door,
        "parameters of `InvariantAligner`": len(estimator),
        "files over 250 lines in src/": long_files(everything, 250),
        "functions over 60 lines in src/": long_functions(everything, 60),
        "duplicate pairs in src/": duplicate_pairs(root / "src"),
        "lines in alignment/": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in solver),
    }
    for name, value in rows.items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
