"""Stores of vectors: files, tables and vector databases behind one protocol.

An address names a store: a file (``old.npy``, ``old.parquet``, ``old.faiss``, …) or an engine with a folder or URL and a
collection (``lancedb:FOLDER#TABLE``, ``qdrant:FOLDER#COLLECTION``, ``qdrant:http://HOST:6333#COLLECTION``,
``chroma:FOLDER#COLLECTION``). Each engine is an extra: ``pip install 'invarot[lancedb]'``, or ``'invarot[stores]'`` for all.
"""

from .address import open_beside, same_place
from .address import open_store as open
from .protocol import Batch, Info, Store, StoreUnavailable

__all__ = ["Batch", "Info", "Store", "StoreUnavailable", "open", "open_beside", "same_place"]
