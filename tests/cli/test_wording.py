"""Messages of the command line: options, and no arguments of Python."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import invarot
from invarot.alignment.history import Status
from invarot.cli.wording import OPTIONS, to_shell

SRC = Path(invarot.__file__).parent
# Modules whose messages can reach the command line.
HEARD = ("words", "translation", "files.py", "folders.py", "alignment/judging/hints.py", "transport/choice.py")
PYTHON = re.compile(r"\b[a-z_]+=(?:True|False|None|\"\w*\"|'\w*'|(?=[\s,;.)]|$))")
# Raised where a recipe or a loaded object is built in Python; no option of the command line leads there.
PYTHON_ONLY = ("recipe.py", "model.py", "writers.py", "preprocessing.py")


def messages():
    for place in HEARD:
        path = SRC / place
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            if file.name in PYTHON_ONLY:
                continue
            tree = ast.parse(file.read_text(encoding="utf-8"))
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | inner:
                    yield file.name, node.value
                elif isinstance(node, ast.JoinedStr):
                    parts = (one.value if isinstance(one, ast.Constant) else "X" for one in node.values)
                    yield file.name, "".join(map(str, parts))


SUSPECTS = [(name, text) for name, text in messages() if PYTHON.search(text) and " " in text]


def test_there_are_messages_with_arguments():
    assert len(SUSPECTS) >= 5  # else the search above finds nothing


@pytest.mark.parametrize(("name", "text"), SUSPECTS)
def test_no_message_names_an_argument(name, text):
    assert not PYTHON.search(to_shell(text, "align")), f"{name}: {to_shell(text, 'align')}"


@pytest.mark.parametrize("status", [Status.NOT_SETTLED, Status.MARGINALS])
def test_warnings_name_no_argument(status):
    assert not re.search(r"max_iter|\btol\b|plan_tol|floor", to_shell(status.value))


def test_the_head_of_a_message_is_an_option():
    assert to_shell("rng: expected a whole number, got x") == "--seed: expected a whole number, got x"
    assert to_shell("new: expected vectors, got none") == "NEW_SAMPLE: expected vectors, got none"
    assert all(
        option.startswith("--") or option.isupper() for option in OPTIONS.values()
    )  # options, and arguments as help shows them
    assert to_shell("a.vec: expected a file, got none") == "a.vec: expected a file, got none"
