"""Files of stores of vectors that are damaged: arrays with ids beside them, and Parquet and Arrow tables where pyarrow is installed."""

from __future__ import annotations

import io
import warnings
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np

import invarot.stores as stores
from invarot.errors import InputError, MemoryBound

from .vector_files import damage, make_npy_file, make_npz, make_rows, make_safetensors

ARRAYS = {".npy": make_npy_file, ".npz": make_npz, ".safetensors": make_safetensors}
TABLES = (".parquet", ".arrow") if find_spec("pyarrow") else ()
ROWS = b'{"id": "a", "payload": {"t": 1}}\n{"id": 2}\n{"id": "c"}\n'


def make_table(rng: Random, suffix: str) -> bytes:
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet

    words, vectors = make_rows(rng)
    table = pyarrow.table(
        {"id": words, "vector": [[float(one) for one in row] for row in vectors], "n": range(len(words))}
    )
    stream = io.BytesIO()
    write = pyarrow.parquet.write_table if suffix == ".parquet" else pyarrow.feather.write_feather
    write(table, stream)
    return stream.getvalue()


def try_store(rng: Random, folder: Path) -> str:
    """Read one such file: "read" or "refused"; anything else raises."""
    suffix = rng.choice((*ARRAYS, *TABLES))
    content = ARRAYS[suffix](rng) if suffix in ARRAYS else make_table(rng, suffix)
    path = folder / f"f{suffix}"
    path.write_bytes(damage(rng, content) if rng.random() < 0.9 else content)
    beside = path.with_name(path.name + ".rows.jsonl")
    beside.unlink(missing_ok=True)
    if rng.random() < 0.2:
        beside.write_bytes(damage(rng, ROWS) if rng.random() < 0.7 else ROWS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            store = stores.open(path)
            count, rows = store.info().count, 0
            for batch in store.read(3):
                assert np.isfinite(batch.vectors).all()
                assert len(batch.ids) == len(batch.vectors) == len(batch.payload)
                rows += len(batch)
    except (InputError, MemoryBound) as error:
        if str(path) in str(error):
            return "refused"
        raise AssertionError(f"the file is not named: {error}") from error
    assert rows == count
    return "read"
