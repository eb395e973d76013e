"""The names of numbers in the code: each has one meaning."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def trees(folder: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))}


def numbers(tree: ast.AST) -> list[ast.Constant]:
    """Numbers that are written out, signs aside."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    ]


def shared_names(folder: Path) -> dict[str, list[str]]:
    """Names in capitals that stand for a number in one module and are given again in another: a name has one meaning.

    The experiments, each of which is one figure, have names of their own.
    """
    places: dict[str, list[str]] = {}
    numbers_named: set[str] = set()
    for path, tree in trees(folder).items():
        place = path.relative_to(folder).as_posix()
        for name, value in () if place.startswith("experiments/") else _named_values(tree):
            places.setdefault(name, []).append(place)
            if _is_number(value):
                numbers_named.add(name)
    return {name: found for name, found in sorted(places.items()) if len(found) > 1 and name in numbers_named}


def _named_values(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names in capitals at the top of a module, with their values."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                parts = getattr(target, "elts", [target])
                values = getattr(node.value, "elts", []) if len(parts) > 1 else [node.value]
                for part, value in zip(parts, values, strict=len(values) == len(parts)):
                    if isinstance(part, ast.Name) and part.id.isupper():
                        yield part.id, value


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is a number, a formula of numbers, or a tuple of them."""
    if isinstance(value, ast.Tuple):
        return len(value.elts) > 0 and all(map(_is_number, value.elts))
    return not isinstance(value, (ast.Call, ast.Dict, ast.Subscript)) and len(numbers(value)) > 0
