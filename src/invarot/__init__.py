"""invarot: align two point clouds or embedding spaces when nothing is paired and the spaces are unregistered."""

from typing import TYPE_CHECKING, Any

from .alignment.evidence import Evidence
from .alignment.history import History, Step
from .alignment.result import Alignment, Status
from .alignment.settings import paper
from .alignment.solve import align
from .alignment.verdict import Verdict
from .errors import InputError, MemoryBound, MissingExtra, NotAligned, NotConverged
from .storage import load
from .transport.schedule import Schedule

if TYPE_CHECKING:
    from .estimators import InvariantAligner as InvariantAligner

__version__ = "0.1.0"

__all__ = [
    "Alignment", "Evidence", "History", "InputError", "MemoryBound", "MissingExtra", "NotAligned", "NotConverged",
    "Schedule", "Status", "Step", "Verdict", "align", "load", "paper",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted([*globals(), "InvariantAligner"])


def __getattr__(name: str) -> Any:
    if name == "InvariantAligner":  # scikit-learn is an extra, and slow to import
        from .estimators import InvariantAligner

        return InvariantAligner
    raise AttributeError(f"module 'invarot' has no attribute {name!r}")
