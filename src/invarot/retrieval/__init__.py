"""Retrieval: neighbours, pairs, accuracy, and the refinement of a map by the pairs it finds."""

from .common_space import common_space
from .metrics import Accuracy, coverage, evaluate, gold_ranks, mean_reciprocal_rank, precision_at
from .neighbours import neighbours
from .pairs import matches, matches_by_distance, mutual
from .refine import Refined, Round, refine
from .scores import METHODS, mean_similarities, mean_similarity

__all__ = [
    "METHODS",
    "Accuracy",
    "Refined",
    "Round",
    "common_space",
    "coverage",
    "evaluate",
    "gold_ranks",
    "matches",
    "matches_by_distance",
    "mean_reciprocal_rank",
    "mean_similarities",
    "mean_similarity",
    "mutual",
    "neighbours",
    "precision_at",
    "refine",
]
