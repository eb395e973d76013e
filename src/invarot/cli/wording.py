"""What the library says, in the words of the command line: options instead of Python's arguments."""

from __future__ import annotations

import re
from collections.abc import Collection

# An argument at the head of a message is named after the option that sets it.
OPTIONS = {
    "how": "--preset", "rng": "--seed", "checkpoint": "--checkpoint", "device": "--device", "memory": "--memory", "p": "--p",
    "keep": "--max-words", "max_words": "--max-words", "preset": "--preset", "effort": "--effort", "seeds": "--seeds",
    "overlap": "--overlap", "format": "--format", "dictionary": "--dictionary", "sample": "--sample", "pairs": "--pairs",
    "check_pairs": "--check-pairs", "old": "OLD", "new": "NEW_SAMPLE", "use": "--use", "method": "--retrieval", "spelling": "--spelling", "scale": "--scale",
}  # fmt: skip

# Advice that is an argument of Python, and what it is here.
PHRASES = (
    (r"^path: expected a (new or empty folder|writable folder|folder to save to)", r"--output: expected a \1"),
    (r"^path: expected", "MODEL: expected"),
    (r"name (the|a) folder that save wrote", r"name \1 folder that invarot align wrote"),
    (r"(; |, )?load it with invarot\.\w+(\(\))?", ""),
    (r" \(overwrite=True\)", ""),
    (r"a recipe with start='auto', p=inf, one stage, no schedule and no overlap, such as \"best\"", "best or fast"),
    (r"with replace_existing=True", "with --force"),
    (r"pass replace_existing=True", "overwrite it with --force"),
    (r"pass check_pairs=", "pass --check-pairs"),
    (r"\(seeds=\)", "({pairs})"),
    (r'effort="(\w+)"', r"--effort \1"),
    (r'start="auto"', "the preset best"),
    (r'overlap="auto"', "--overlap auto"),
    (r"scale=True( without a radius)?", "--scale"),
    (r"try translate=True", "centre both first"),
    (r"try reflections \(p=inf; reflect=True of clouds\.register\)", "try --reflect"),
    (
        r"pass vocabulary=( instead)?",
        "put the words beside it, one per line, in a file of the same name ending in .vocab",
    ),
    (r"(or )?pass format=", r"\1convert it to .vec, .bin, .npz or .safetensors"),
    (r"pass their names with use=", "name both with --use"),
    (r"pass encoding_errors='replace'", "convert it to UTF-8"),
    (r"raise memory=, solve fewer starts at a time, use fewer threads, or pass float32 points", "raise --memory"),
    (r"raise memory=, or use solver=Sinkhorn\(\), which streams", "raise --memory"),
    (r" when max_iter was reached: raise max_iter, or tol\.", " when the last step was reached: see the verdict."),
    (r"plan_tol where the solve ended: raise .* floor\.", "tolerance where the solve ended: see the verdict."),
    (r"if its rows are features, pass \w\.T", "if its rows are features, transpose it"),
    (r"if rows are features, pass x\.T and y\.T", "if rows are features, transpose both"),
    (r"; pass invarot\.\w+\([^)]*\)", ""),
    (r", such as math\.inf", ", such as inf"),
)
PAIRS = {"align": "--seeds FILE", "migrate": "--pairs FILE"}  # how known pairs are given, command by command


def to_shell(text: str, command: str | None = None) -> str:
    """Return a message of the library as the command line says it.

    Examples
    --------
    >>> to_shell("checkpoint: expected a new folder, got one; choose another")
    '--checkpoint: expected a new folder, got one; choose another'
    >>> to_shell('try effort="high", or a few known pairs (seeds=)', "align")
    'try --effort high, or a few known pairs (--seeds FILE)'
    """
    head, colon, rest = text.partition(": expected")
    if colon and head in OPTIONS:
        text = OPTIONS[head] + colon + rest
    for pattern, instead in PHRASES:
        text = re.sub(pattern, instead.replace("{pairs}", PAIRS.get(command or "", "from Python, for now")), text)
    return text


def say_reason(text: str, command: str | None, options: Collection[str]) -> str | None:
    """Return a reason of a verdict as a command says it, without advice that names an option the command lacks.

    The fact before such advice stays; None where nothing stays.

    Examples
    --------
    >>> say_reason("x spreads 3 times as far as y: try scale=True", "migrate", {"--effort"})
    'x spreads 3 times as far as y'
    """
    said = to_shell(text, command)
    if set(re.findall(r"--[a-z-]+", said)) <= set(options):
        return said
    fact, colon, _ = said.partition(": ")
    return fact if colon else None
