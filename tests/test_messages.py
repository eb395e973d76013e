"""Every error of input names what was expected and what came."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "invarot"
OTHERS = {
    "y: InvariantAligner requires y to be passed",  # scikit-learn looks for these words
    "use: expected the key {} in {}.obsm, {}",  # "got" is in what is filled in
}


def find_messages(text: str) -> list[str]:
    """The messages of all ``raise InputError(…)``, with {} for what is filled in; those of another place left out."""
    raised = (node.exc for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Raise))
    calls = (one for one in raised if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "InputError")
    return [text for call in calls for text in [write_out(call.args[0])] if " " in text.replace("{} (rank {})", "{}")]


def write_out(message: ast.expr) -> str:
    if isinstance(message, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in message.values)
    return str(message.value) if isinstance(message, ast.Constant) else "{}"


def says_both(message: str) -> bool:
    return ": expected" in message and ", got" in message


def test_every_message_says_what_was_expected_and_what_came():
    found = [one for path in PACKAGE.rglob("*.py") for one in find_messages(path.read_text(encoding="utf-8"))]
    assert len(found) > 200
    odd = [one for one in found if not says_both(one)]
    assert [one for one in odd if not any(one.startswith(other) for other in OTHERS)] == []


def test_a_message_without_either_is_found():
    text = "def f():\n    raise InputError(f'p: {value} is wrong')\n    raise InputError(str(error))"
    assert find_messages(text) == ["p: {} is wrong"]
    assert not says_both(find_messages(text)[0])
