"""Unsupervised word translation: from two vocabularies to a dictionary."""

from .checkpoint import Checkpoint
from .learn import learn
from .model import Translation
from .presets import PRESETS, Recipe, recipe
from .store import load_translation, save_translation

__all__ = ["PRESETS", "Checkpoint", "Recipe", "Translation", "learn", "load_translation", "recipe", "save_translation"]
