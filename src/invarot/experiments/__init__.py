"""The paper's figures, tables and claims, one module each; ``invarot reproduce NAME`` runs them."""

from __future__ import annotations

from importlib import import_module

from ..checks import check_choice
from .run import Context, Experiment, reproduce

NAMES = ("schatten", "matchings", "noise", "dynamics", "words", "subsample", "annealing", "order", "spectrum")


def find(name: str) -> Experiment:
    """The experiment of this name."""
    module = import_module(f".{check_choice(name, 'NAME', NAMES)}", __name__)
    found: Experiment = module.EXPERIMENT
    return found


__all__ = ["NAMES", "Context", "Experiment", "find", "reproduce"]
