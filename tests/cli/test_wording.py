"""Messages of the command line: options, and no arguments of Python."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import invarot
from invarot.alignment.history import Status
from invarot.cli import align, cells, demo, migrate, register  # noqa: F401 -- each registers its command
from invarot.cli.app import list_options
from invarot.cli.wording import OPTIONS, say_reason, to_shell

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
    assert to_shell("path: expected a new or empty folder, got y") == "--output: expected a new or empty folder, got y"
    assert to_shell("path: expected a saved model, got y") == "MODEL: expected a saved model, got y"


def test_a_command_advises_only_what_it_can_do():
    hints = [text for name, text in messages() if name == "hints.py" and ("try " in text or "seeds=" in text)]
    assert len(hints) >= 5  # else the search finds nothing
    for command in ("align", "cells", "demo", "migrate", "register"):
        options = list_options(command)
        assert "--seed" in options or command == "demo"
        for text in hints:
            said = say_reason(text, command, options)
            assert said is None or set(re.findall(r"--[a-z-]+", said)) <= set(options)


def test_the_fact_stays_where_the_advice_goes():
    far = 'X of x lie far from the other cloud: if they have no counterpart, try overlap="auto"'
    assert say_reason(far, "migrate", list_options("migrate")) == "X of x lie far from the other cloud"
    assert say_reason(far, "align", list_options("align")).endswith("try --overlap auto")
    assert say_reason('try effort="high", or a few known pairs (seeds=)', "register", list_options("register")) is None
