"""Word vectors and dictionaries: formats in and out, preprocessing, and a pair of languages that ships along."""

from invarot.words.core import load_core_pair
from invarot.words.dictionaries import DictionaryWarning, Gold, read_dictionary
from invarot.words.preprocessing import Preprocessing
from invarot.words.readers import read_vectors
from invarot.words.vectors import Vectors, VectorsWarning
from invarot.words.vocabulary import looks_like_word, shuffled_order
from invarot.words.writers import write_vectors

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
