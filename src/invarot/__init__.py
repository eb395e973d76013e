"""invarot: align two point clouds or embedding spaces when nothing is paired and the spaces are unregistered."""

from .alignment.history import History, Step
from .alignment.result import Alignment, Status
from .alignment.settings import paper
from .alignment.solve import align
from .alignment.verdict import Evidence, Verdict
from .errors import InputError, MemoryBound, MissingExtra, NotAligned, NotConverged
from .transport.schedule import Schedule

__version__ = "0.1.0"

__all__ = [
    "Alignment", "Evidence", "History", "InputError", "MemoryBound", "MissingExtra", "NotAligned", "NotConverged",
    "Schedule", "Status", "Step", "Verdict", "align", "paper",
]  # fmt: skip
