"""invarot: align two point clouds or embedding spaces with no known pairs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .alignment.align import align
from .alignment.history import History, StartRecord, Status, Step
from .alignment.options import Exact, Rotations, Schatten, Search, Sinkhorn, Stages
from .alignment.paper import paper
from .alignment.result import Alignment
from .alignment.verdict import Evidence, Resolution, Verdict
from .errors import InputError, MemoryBound, MissingExtra, NotAligned, NotConverged, NotTrusted
from .storage import load
from .transport.schedule import Schedule

if TYPE_CHECKING:
    from . import baselines as baselines
    from . import translation as translation
    from . import words as words
    from .estimators import InvariantAligner as InvariantAligner

__version__ = "0.1.0"

__all__ = [
    "Alignment", "Evidence", "Exact", "History", "InputError", "MemoryBound", "MissingExtra",
    "NotAligned", "NotConverged", "NotTrusted", "Resolution", "Rotations", "Schatten", "Schedule", "Search", "Sinkhorn", "Stages", "StartRecord",
    "Status", "Step", "Verdict", "align", "baselines", "load", "paper", "translation", "words",
]  # fmt: skip

_ROOMS = ("baselines", "translation", "words")  # imported on first use


def __dir__() -> list[str]:
    return [*__all__, "InvariantAligner", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name == "InvariantAligner":  # scikit-learn is an extra, and slow to import
        from .estimators import InvariantAligner

        return InvariantAligner
    raise AttributeError(f"module 'invarot' has no attribute {name!r}")
