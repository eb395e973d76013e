"""Unsupervised word translation: from two vocabularies to a dictionary."""

from .hub import Hub, load_hub
from .learn import adjust, learn
from .many import learn_many
from .model import Translation
from .recipe import PRESETS, Recipe, recipe
from .steps.shape import StepRecord
from .storage import load

__all__ = [
    "PRESETS", "Hub", "Recipe", "StepRecord", "Translation", "adjust", "learn", "learn_many", "load", "load_hub", "recipe",
]  # fmt: skip
