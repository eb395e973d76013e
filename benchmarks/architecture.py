"""The shape of the code in numbers: how far a call travels, how many rules there are, what is long or written twice.

    python benchmarks/architecture.py                # this checkout
    PYTHONPATH=OTHER/src python benchmarks/architecture.py --root OTHER

Prints the rows of the table in docs/architecture.md.
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

ROOT = Path(__file__).parent.parent


def travel(package: Path) -> tuple[int, int, int]:
    """Modules and functions that align(x, y) on 500 points enters; modules in its deepest stack but arrays and threads."""
    import invarot

    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(500, 10))
    y = x[::-1] @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    invarot.align(x, y)  # what is imported on first use, is
    seen: set[tuple[str, str]] = set()
    stack: list[str] = []
    deepest = 0
    everywhere = {str(package / "arrays.py"), str(package / "threads.py")}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        name = frame.f_code.co_filename
        if not name.startswith(str(package)):
            return
        if event == "call":
            seen.add((name, frame.f_code.co_name))
            stack.append(name)
            deepest = max(deepest, len(set(stack) - everywhere))
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(watch)
    try:
        invarot.align(x, y)
    finally:
        sys.setprofile(None)
    return len({name for name, _ in seen}), len(seen), deepest


def trees(folder: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))}


def call_sites(found: dict[Path, ast.Module], name: str, argument: object = None) -> int:
    """Calls of a function, or of one with that first argument."""
    return sum(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == name
        and (argument is None or (len(node.args) > 0 and getattr(node.args[0], "value", None) == argument))
        for tree in found.values()
        for node in ast.walk(tree)
    )


def tuned(found: dict[Path, ast.Module]) -> int:
    """Numbers with a name in capitals at the top of a module, or fields with a number of a class called Tuning."""
    count = 0
    for tree in found.values():
        for node in tree.body:
            if isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) and t.id.isupper() for t in node.targets):
                count += _numbers(node.value)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id.isupper():
                count += _numbers(node.value)
    return count


def _numbers(value: ast.AST | None) -> int:
    if isinstance(value, ast.Constant):
        return int(isinstance(value.value, (int, float)) and not isinstance(value.value, bool))
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return sum(_numbers(part) for part in value.elts)
    if isinstance(value, ast.Dict):
        return sum(_numbers(part) for part in value.values)
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        return 1
    return 0


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
    root = parser.parse_args().root.resolve()
    package = root / "src" / "invarot"
    import invarot

    assert Path(invarot.__file__).resolve().parent == package, f"PYTHONPATH does not lead to {package}"
    everything, solver = trees(package), trees(package / "alignment")
    modules, functions, deepest = travel(package)
    door = sum(p.kind is p.KEYWORD_ONLY for p in inspect.signature(invarot.align).parameters.values())
    estimator = inspect.signature(invarot.InvariantAligner).parameters
    rows = {
        "modules that `align(x, y)` on 500 points enters": modules,
        "functions it enters": functions,
        "modules in its deepest stack (arrays and threads, which all use, aside)": deepest,
        "places that call the alternation": call_sites(solver, "alternate"),
        "`replace(…)` in alignment/": call_sites(solver, "replace"),
        "`default_rng(0)` in alignment/, docstrings aside": call_sites(solver, "default_rng", argument=0),
        "numbers with a name in alignment/": tuned(solver),
        "of these in tuning.py": tuned({path: tree for path, tree in solver.items() if path.name == "tuning.py"}),
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
