"""Word vectors and dictionaries: formats in and out, preprocessing, and a built-in pair of languages."""

from .core import load_core_pair
from .dictionaries import DictionaryWarning, Gold, read_dictionary
from .preprocessing import Preprocessing
from .readers import read_vectors
from .vectors import Vectors, VectorsWarning
from .vocabulary import looks_like_word, shuffled_order
from .writers import write_vectors

__all__ = [
    "DictionaryWarning",
    "Gold",
    "Preprocessing",
    "Vectors",
    "VectorsWarning",
    "load_core_pair",
    "looks_like_word",
    "read_dictionary",
    "read_vectors",
    "shuffled_order",
    "write_vectors",
]
