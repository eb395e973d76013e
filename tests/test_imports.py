"""The order of the house: imports point down only, torch stays behind ``arrays``, no two modules need each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import invarot

SRC = Path(invarot.__file__).parent
ROOT = ""  # the public face, invarot itself: what experiments and commands, like any user, may import

# Top to bottom. A room may import from rooms further down; from one on its own line only where the line says so.
ORDER = (
    {"__main__"},
    {"cli"},
    {"experiments"},
    {ROOT},
    {"report", "estimators"},
    {"translation"},
    {"baselines", "storage"},
    {"alignment"},
    {"starts"},
    {"geometry", "transport", "retrieval", "words"},
    {"checks", "folders"},
    {"arrays", "threads"},
    {"errors", "data"},
)
EXCEPTIONS = {
    ("alignment.result", "storage"): "Alignment.save, imported when it is called: a result knows how to keep itself",
}
TORCH = {"arrays", "transport.gpu"}  # the only modules that may know that torch exists

MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
    for path in sorted(SRC.rglob("*.py"))
}


def imports(module: str, path: Path) -> Iterator[tuple[str, int, bool]]:
    """Every module that ``path`` imports, absolute, with the line and whether it is imported with the module itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    first = {id(node) for node in tree.body}
    package = ("invarot." + module).strip(".").split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno, id(node) in first
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for name in node.names:
                inner = f"{origin}.{name.name}"
                known = inner.removeprefix("invarot.") in MODULES
                yield inner if known else origin, node.lineno, id(node) in first


def own(name: str) -> str | None:
    """``invarot.transport.plan`` → ``transport.plan``; None for other people's modules."""
    return name.removeprefix("invarot").lstrip(".") if name.split(".")[0] == "invarot" else None


def rank(module: str) -> int:
    room = module.split(".")[0]
    for level, rooms in enumerate(ORDER):
        if room in rooms:
            return level
    pytest.fail(f"{module}: the room {room!r} has no place in ORDER; give it one")


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    wrong = []
    for name, line, _ in imports(module, MODULES[module]):
        target = own(name)
        if target is None or target.split(".")[0] == module.split(".")[0]:
            continue
        if rank(target) <= rank(module) and (module, target) not in EXCEPTIONS:
            way = "sideways" if rank(target) == rank(module) else "up"
            wrong.append(f"{MODULES[module].name}:{line} imports {name}, which is {way}")
    assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize("module", MODULES)
def test_only_arrays_and_the_gpu_know_torch(module):
    if any(module == place or module.startswith(place + ".") for place in TORCH):
        return
    found = [line for name, line, _ in imports(module, MODULES[module]) if name.split(".")[0] in ("torch", "triton")]
    assert not found, f"{MODULES[module]} imports torch in lines {found}; put what needs it into arrays.py"


def test_no_two_modules_need_each_other():
    graph = {
        module: {own(name) for name, _, first in imports(module, path) if first and own(name)} - {module}
        for module, path in MODULES.items()
    }
    for module in graph:  # a package's face imports its rooms, and they may name the package: not a cycle of modules
        graph[module] = {target for target in graph[module] if not module.startswith(f"{target}.")}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_every_exception_is_still_needed():
    used = {(module, own(name)) for module, path in MODULES.items() for name, _, _ in imports(module, path)}
    assert set(EXCEPTIONS) <= used


def test_the_rule_can_fail(tmp_path):
    """A file that breaks the order is seen to break it."""
    file = tmp_path / "schatten.py"
    file.write_text("from ..alignment import solve\nfrom ..errors import InputError\nimport torch\n")
    found = {name: line for name, line, _ in imports("geometry.schatten", file)}
    assert found == {"invarot.alignment.solve": 1, "invarot.errors": 2, "torch": 3}
    assert rank("alignment.solve") < rank("geometry.schatten") < rank("errors")
