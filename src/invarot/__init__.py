"""invarot: align two point clouds or embedding spaces with no known pairs."""

from __future__ import annotations

from importlib import import_module

from .errors import InputError, MemoryBound, MissingExtra, NotAligned, NotConverged, NotTrusted, WorkersLost

TYPE_CHECKING = False  # typing's own is slow to import, and Ctrl-C is answered from the first moment on
if TYPE_CHECKING:
    from typing import Any

    from . import baselines, cells, clouds, distributed, migration, stores, translation, words
    from .alignment.align import align
    from .alignment.history import History, StartRecord, Status, Step
    from .alignment.many import align_many
    from .alignment.many_result import ManyAlignment
    from .alignment.options import Exact, Rotations, Schatten, Search, Sinkhorn, Stages
    from .alignment.paper import paper
    from .alignment.result import Alignment
    from .alignment.verdict import Evidence, Resolution, Verdict
    from .estimators import InvariantAligner as InvariantAligner
    from .logs import show_progress
    from .storage import load, load_many
    from .transport.schedule import Schedule

__version__ = "0.1.0"

__all__ = [
    "Alignment", "Evidence", "Exact", "History", "InputError", "ManyAlignment", "MemoryBound", "MissingExtra",
    "NotAligned", "NotConverged", "NotTrusted", "Resolution", "Rotations", "Schatten", "Schedule", "Search", "Sinkhorn",
    "Stages", "StartRecord", "Status", "Step", "Verdict", "WorkersLost", "align", "align_many", "baselines", "cells", "clouds", "distributed", "load", "load_many",
    "migration", "paper", "show_progress",
    "stores", "translation", "words",
]  # fmt: skip

_ROOMS = ("baselines", "cells", "clouds", "distributed", "migration", "stores", "torch", "translation", "words")
# Imported on first use: the command line has to be able to answer Ctrl-C before NumPy and SciPy are loaded.
_PLACES = {
    "alignment.align": ("align",),
    "alignment.many": ("align_many",),
    "alignment.many_result": ("ManyAlignment",),
    "alignment.history": ("History", "StartRecord", "Status", "Step"),
    "alignment.options": ("Exact", "Rotations", "Schatten", "Search", "Sinkhorn", "Stages"),
    "alignment.paper": ("paper",),
    "alignment.result": ("Alignment",),
    "alignment.verdict": ("Evidence", "Resolution", "Verdict"),
    "estimators": ("InvariantAligner",),
    "logs": ("show_progress",),
    "storage": ("load", "load_many"),
    "transport.schedule": ("Schedule",),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


def __dir__() -> list[str]:
    return [*__all__, "InvariantAligner", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'invarot' has no attribute {name!r}")
    found = getattr(import_module(f".{_PLACE_OF[name]}", __name__), name)
    globals()[name] = found
    return found
