"""Bring a store of vectors to another embedding model, with nothing paired."""

from .adapter import Adapter, load
from .copying import find_unfinished, journal_of, map_store
from .cost import Cost, estimate_cost
from .fitting import Migration, fit
from .recall import Recall

__all__ = [
    "Adapter",
    "Cost",
    "Migration",
    "Recall",
    "estimate_cost",
    "find_unfinished",
    "fit",
    "journal_of",
    "load",
    "map_store",
]
