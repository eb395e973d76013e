"""The families of problems, in two groups that were fixed before any of their solves was looked at.

The rule, its features and its thresholds are chosen and fitted on ``DEVELOPMENT`` alone; ``REPORT`` was solved once for the report.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from . import clouds, measured, views
from .clouds import Pair

Maker = Callable[[np.random.Generator], Pair]


def development(data: Path) -> dict[str, Maker]:
    words = partial(partial, measured.words, data)
    return {
        "gaussian": clouds.gaussian,
        "mixture": clouds.mixture,
        "gamma": clouds.gamma,
        "sheet": clouds.sheet,
        "curve": clouds.curve,
        "graphs": views.graphs,
        "weighted graphs": views.weighted_graphs,
        "cells": views.cells,
        "tissues": views.tissues,
        "networks": views.networks,
        "series": views.series,
        "cut mixture": clouds.cut_mixture,
        "whitened": clouds.whitened,
        "degenerate": clouds.degenerate,
        "words en-fr": words("europarl100/en", "europarl100/fr", "en-fr"),
        "words glove": words("glove/en-glove50", "glove/en-glove100", None),
        "words en-glove": words("europarl300/en", "glove/en-glove100", None),
        "large words": partial(measured.large_words, data),
        "texts minilm-mpnet": partial(measured.texts, data, "minilm", "mpnet"),
    }


def report(data: Path) -> dict[str, Maker]:
    words = partial(partial, measured.words, data)
    return {
        "heavy": clouds.heavy,
        "surface": clouds.surface,
        "trajectories": views.trajectories,
        "blocks": views.blocks,
        "other graphs": views.other_graphs,
        "snare": partial(measured.snare, data),
        "digits": measured.digits,
        "patches": measured.patches,
        "shapes": partial(measured.shapes, data),
        "cut shapes": partial(measured.cut_shapes, data),
        "words en-es": words("europarl100/en", "europarl100/es", "en-es"),
        "words en-de": words("europarl300/en", "europarl300/de", "en-de"),
        "words navec": words("navec/hudlit", "navec/news", None),
        "words glove-fasttext": words("glove/en-glove100", "glove/fr-fasttext300", "en-fr"),
        "texts minilm-wordllama": partial(measured.texts, data, "minilm", "wordllama"),
    }


GROUPS = {"development": development, "report": report}
