"""The paper's figures, tables and claims, one module each; ``invarot reproduce NAME`` runs them."""

from __future__ import annotations

from importlib import import_module

from ..checks import check_choice
from .run import Context, Experiment, reproduce

NAMES = {
    "schatten": "the norm balls in singular-value space, and the best maps on them",
    "matchings": "classic and l_∞-invariant OT on a turned cloud, edge by edge",
    "noise": "matching accuracy and error of the map against noise, true map in F_2 and in F_∞",
    "dynamics": "objective, change of map and plan, and precision, step by step, compared with adversarial training",
    "objective": "whether the objective follows the accuracy: across starts at equal epsilon, within a run without its trend",
    "words": "the translation table: every system, pair, direction and order, with failures (summary.csv)",
    "cost": "seconds of every system of that table, each run alone on one core or one GPU",
    "readouts": "every system through its own map, and after read-outs and a refinement that all share",
    "subsample": "the effect of the first stage's size k on result and time",
    "starts": "how many random starts Algorithm 1 takes, to the letter, beside auto",
    "annealing": "robustness to the first epsilon, decay and floor",
    "order": "how much each method depends on the frequency order of the words",
    "appendix": "p = 1 in closed form and by Frank–Wolfe; other dimensions, translation, scale, a bend",
    "spectrum": "recovery and precision against the exponent p",
}


def find(name: str) -> Experiment:
    """Return the experiment of this name."""
    module = import_module(f".{check_choice(name, 'NAME', NAMES)}", __name__)
    found: Experiment = module.EXPERIMENT
    return found


__all__ = ["NAMES", "Context", "Experiment", "find", "reproduce"]
