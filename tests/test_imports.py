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
    {"report", "estimators", "torch"},
    {"translation", "migration", "clouds", "cells", "distributed"},
    {"baselines", "storage", "stores"},
    {"alignment"},
    {"starts"},
    {"geometry", "transport", "retrieval", "words"},
    {"checks", "folders"},
    {"files", "schema"},
    {"jobs", "rows"},
    {"arrays", "threads"},
    {"errors", "data", "logs", "parts", "array_type"},
)
EXCEPTIONS = {
    (
        "alignment.ranks",
        "distributed.align",
    ): "align(group=...), imported when it is called: the door of one device leads to the ranks'",
    ("alignment.many_result", "storage"): "ManyAlignment.save, for the same reason",
    ("alignment.result", "storage"): "Alignment.save, imported when it is called: a result knows how to keep itself",
    ("alignment.result", "report.pictures"): "Alignment.plot, imported when it is called: a result can show itself",
    ("alignment.result", "report.alignment"): "Alignment.report, likewise",
    ("alignment.result", "report.card"): "Alignment in a notebook, likewise",
    ("translation.model", "report.page"): "Translation.report, likewise",
    ("alignment.history", "report.pictures"): "History.plot, likewise",
}
# Inside alignment, top to bottom, by the same rule.
WITHIN = (
    {"many"},
    {"align"},
    {"package", "ranks"},
    {"result", "many_result"},
    {"search.partial"},
    {"search.motions"},
    {"search.clouds"},
    {"search.search", "improve.improve", "judging.judge"},
    {
        "search.heats", "search.asked", "search.consensus", "improve.follow_neighbours", "improve.refit", "improve.settle", "improve.sharpen", "improve.swap_matches",
        "judging.rule", "judging.symmetry", "judging.hints", "judging.degenerate",
    },
    {"evidence"},
    {"contest", "elsewhere"},
    {"loop.stages", "loop.batches", "neighbourhoods"},
    {"loop.alternate"},
    {"loop.partial", "loop.momentum"},
    {"loop.steps"},
    {"unmatched"},
    {"problem"},
    {"budget", "candidate", "paper", "together"},
    {"options", "overlap"},
    {"history", "tuning", "verdict"},
)  # fmt: skip
APART = {"search", "improve", "judging"}  # none of them may know another
SOLVING = {"alignment", "starts", "transport", "geometry", "retrieval"}  # where nothing may depend on chance of its own
# the only modules that may know that torch exists; invarot.torch is a torch module for torch users
TORCH = {"arrays", "transport.gpu", "torch", "distributed"}

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


INSIDE = {
    module.removeprefix("alignment."): path
    for module, path in MODULES.items()
    if module.startswith("alignment.") and path.name != "__init__.py"
}


def rank_within(module: str) -> int:
    for level, modules in enumerate(WITHIN):
        if module in modules:
            return level
    pytest.fail(f"alignment.{module} has no place in WITHIN; give it one")


def broken_within(module: str, target: str) -> str | None:
    """What is wrong with an import of alignment.``target`` by alignment.``module``, if anything."""
    if rank_within(target) <= rank_within(module):
        return "sideways" if rank_within(target) == rank_within(module) else "up"
    rooms = module.split(".")[0], target.split(".")[0]
    if set(rooms) <= APART and len(set(rooms)) == 2:
        return "in another room"
    return None


@pytest.mark.parametrize("module", INSIDE)
def test_imports_inside_alignment_point_down(module):
    wrong = []
    for name, line, _ in imports(f"alignment.{module}", INSIDE[module]):
        target = (own(name) or "").removeprefix("alignment.")
        if target in INSIDE and (way := broken_within(module, target)):
            wrong.append(f"{INSIDE[module].name}:{line} imports {name}, which is {way}")
    assert not wrong, "; ".join(wrong)


def test_every_place_inside_alignment_is_taken():
    placed = [module for modules in WITHIN for module in modules]
    assert sorted(placed) == sorted(INSIDE)


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


@pytest.mark.parametrize("module", [module for module in MODULES if module.split(".")[0] in SOLVING])
def test_no_random_numbers_but_those_of_the_caller(module):
    """A generator is made of a seed that came from outside; docstrings may do as they like."""
    found = [f"line {node.lineno}" for node in ast.walk(ast.parse(MODULES[module].read_text())) if is_own_seed(node)]
    assert not found, f"{MODULES[module]}: numbers of its own in {', '.join(found)}; take them from rng"


def is_own_seed(node: ast.AST) -> bool:
    """Whether a call makes a generator of a constant (or of nothing), or draws from the state all of NumPy shares."""
    if not isinstance(node, ast.Call):
        return False
    *place, name = ast.unparse(node.func).split(".")
    if name in ("default_rng", "RandomState"):
        return all(isinstance(one, ast.Constant) for one in node.args)
    return place[-1:] == ["random"] and place[:1] != ["rng"] and name not in ("Generator", "SeedSequence")


def test_the_public_face_is_what_it_says():
    """dir() shows the public names and no more, and each is there."""
    public = [*invarot.__all__, "InvariantAligner", "__version__"]
    assert sorted(dir(invarot)) == sorted(public)
    assert len(set(public)) == len(public)
    for name in invarot.__all__:
        assert getattr(invarot, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'aligne'"):
        _ = invarot.aligne


def test_the_rules_can_fail(tmp_path):
    """A file that breaks the order is seen to break it."""
    file = tmp_path / "schatten.py"
    file.write_text("from ..alignment import problem\nfrom ..errors import InputError\nimport torch\n")
    found = {name: line for name, line, _ in imports("geometry.schatten", file)}
    assert found == {"invarot.alignment.problem": 1, "invarot.errors": 2, "torch": 3}
    assert rank("alignment.problem") < rank("geometry.schatten") < rank("errors")
    assert broken_within("problem", "loop.alternate") == "up"
    assert broken_within("contest", "elsewhere") == "sideways"
    assert broken_within("search.search", "judging.rule") == "in another room"
    assert broken_within("search.search", "judging.symmetry") == "in another room"
    assert broken_within("package", "verdict") is None
    for code, own_seed in (
        ("np.random.default_rng(0)", True), ("default_rng()", True), ("np.random.normal()", True),
        ("np.random.default_rng(seed)", False), ("rng.normal()", False), ("rng.random((2, 2))", False),
    ):  # fmt: skip
        assert is_own_seed(ast.parse(code).body[0].value) is own_seed, code
