"""Unsupervised word translation: from two vocabularies to a dictionary."""

from .learn import adjust, learn
from .model import Translation
from .recipe import PRESETS, Recipe, recipe
from .steps.shape import StepRecord
from .storage import load

__all__ = ["PRESETS", "Recipe", "StepRecord", "Translation", "adjust", "learn", "load", "recipe"]
