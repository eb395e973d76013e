"""Saved files, taken apart and put together again with checksums that agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.numpy import load, save

from invarot import folders
from invarot.folders import Kind

Arrays = dict[str, Any]
Facts = dict[str, Any]


def take_apart(folder: Path, kind: Kind) -> tuple[Arrays, Facts]:
    """Read the arrays and the JSON of a saved model."""
    content = (folder / kind.file).read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return load(content), json.loads(header["__metadata__"][folders.FACTS])


def put_together(folder: Path, kind: Kind, arrays: Arrays, facts: Any) -> None:
    """Write a model whose checksums agree with what it says, whatever that is."""
    if isinstance(facts, dict):
        facts["arrays"] = {name: folders._describe(array) for name, array in arrays.items()}
        facts["checksum"] = folders._checksum(facts)
    (folder / kind.file).write_bytes(save(arrays, metadata={folders.FACTS: json.dumps(facts)}))


def edit(folder: Path, kind: Kind, change: Any) -> None:
    """Change what a model says about itself; ``change`` gets its facts."""
    arrays, facts = take_apart(folder, kind)
    change(facts)
    put_together(folder, kind, arrays, facts)


def split_in_two(folder: Path, kind: Kind) -> None:
    """Turn a model into the two files that earlier versions wrote."""
    arrays, facts = take_apart(folder, kind)
    (folder / kind.second_file).write_text(json.dumps(facts, indent=1))
    (folder / kind.file).write_bytes(save(arrays))
