"""Rows to Arrow columns and back: shared by Parquet, Arrow and LanceDB."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtra
from .protocol import Batch, Info, check_vectors

VECTOR_NAMES = ("vector", "vectors", "embedding", "embeddings")
ID_NAMES = ("id", "_id", "ids", "key", "uuid")
JSON_NAME, JSON_MARK = "payload", {b"invarot": b"json"}  # one column of JSON where the payload has no schema


def pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("A Parquet or Arrow file", "arrow") from error
    return pyarrow


def choose_columns(schema: Any, options: dict[str, str], address: str) -> tuple[str, str | None]:
    """Return the names of the columns of vectors and ids; None where row numbers have to serve as ids."""
    pa = pyarrow()
    lists = [one.name for one in schema if pa.types.is_list(one.type) or pa.types.is_large_list(one.type)
             or pa.types.is_fixed_size_list(one.type)]  # fmt: skip
    lists = [name for name in lists if pa.types.is_floating(schema.field(name).type.value_type)]
    asked = options.get("vector")
    known = [name for name in VECTOR_NAMES if name in lists]
    if asked is not None and asked not in lists:
        raise InputError(
            f"{address}: expected a column of vectors {asked!r}, got columns of vectors {lists}; name one of these"
        )
    if asked is None and len(lists) != 1 and len(known) != 1:
        raise InputError(f"{address}: expected one column of vectors, got {lists}; add ?vector=NAME to the address")
    vector = asked or (known[0] if len(known) == 1 else lists[0])
    name = options.get("id")
    if name is not None and name not in schema.names:
        raise InputError(f"{address}: expected a column of ids {name!r}, got columns {schema.names}; name one of these")
    return vector, name or next((one for one in ID_NAMES if one in schema.names), None)


def describe_columns(schema: Any, count: int, dimension: int, vector: str, id: str | None, metric: str) -> Info:
    """Return the description of a table; its schema is that of all columns but the vectors."""
    pa = pyarrow()
    rest = pa.schema([one for one in schema if one.name != vector])
    whole = id is None or pa.types.is_integer(schema.field(id).type)
    if any((one.metadata or {}).items() >= JSON_MARK.items() for one in rest):  # read as dicts, of any shape
        return Info(count, dimension, metric, None, id or "id", vector, whole)
    return Info(count, dimension, metric, rest, id or "id", vector, whole, len(rest) > (id is not None))


def from_arrow(table: Any, vector: str, id: str | None, address: str, start: int, dimension: int) -> Batch:
    """Return the rows of a record batch or table; ``start`` is the number of its first row."""
    pa = pyarrow()
    values = table.column(vector)
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if values.null_count:
        row = start + values.is_null().to_numpy(zero_copy_only=False).argmax()
        raise InputError(f"{address}: expected a vector in every row, got null in row {row}; drop or embed it")
    lengths = np.diff(_offsets(values, pa))
    if len(lengths) and np.any(lengths != dimension):
        row = int(np.argmax(lengths != dimension))
        raise InputError(
            f"{address}: expected vectors of {dimension} dimensions, got {lengths[row]} in row {start + row}; "
            "a collection holds vectors of one model: split it"
        )
    flat = values.flatten()
    flat = flat.cast(pa.float32()) if not pa.types.is_float32(flat.type) else flat
    numbers = flat.to_numpy(zero_copy_only=False).reshape(len(lengths), dimension)
    rows = table.drop_columns([vector]).to_pylist()
    ids = list(range(start, start + len(rows))) if id is None else [row.pop(id) for row in rows]
    if None in ids:
        raise InputError(
            f"{address}: expected an id in every row, got null in row {start + ids.index(None)}; give it one, or drop the row"
        )
    field = table.schema.field(JSON_NAME) if JSON_NAME in table.schema.names else None
    if field is not None and (field.metadata or {}).items() >= JSON_MARK.items():
        rows = [json.loads(row[JSON_NAME]) for row in rows]
    return Batch(ids, check_vectors(numbers, address, start, dimension), rows)


def make_schema(info: Info, *, fixed: bool) -> Any:
    """Return the Arrow schema of a new table; vectors are lists of ``info.dimension`` float32 (``fixed``: of that size)."""
    pa = pyarrow()
    vector = pa.field(info.vector_name, pa.list_(pa.float32(), info.dimension if fixed else -1))
    fields = []
    if info.schema is None or info.id_name not in info.schema.names:
        fields.append(pa.field(info.id_name, pa.int64() if info.whole_ids else pa.string()))
    if info.schema is not None:
        fields += list(info.schema)
    elif info.payload:
        fields.append(pa.field(JSON_NAME, pa.string(), metadata=JSON_MARK))
    return pa.schema([*fields, vector])


def to_arrow(batch: Batch, schema: Any, info: Info, address: str) -> Any:
    """Return the rows as an Arrow table of the schema that :func:`make_schema` made of ``info``."""
    pa = pyarrow()
    columns = []
    for field in list(schema)[:-1]:
        if field.name == info.id_name:
            values = [str(id) for id in batch.ids] if pa.types.is_string(field.type) else batch.ids
        elif field.metadata and field.metadata.items() >= JSON_MARK.items() and info.schema is None:
            values = [_to_json(payload, address) for payload in batch.payload]
        else:
            values = [payload.get(field.name) for payload in batch.payload]
        try:
            columns.append(pa.array(values, field.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(
                f"{address}: expected {field.type} in column {field.name!r}, got {error}; convert it first"
            ) from error
    flat = pa.array(np.ascontiguousarray(batch.vectors, dtype=np.float32).reshape(-1))
    if pa.types.is_fixed_size_list(schema[-1].type):
        lists = pa.FixedSizeListArray.from_arrays(flat, info.dimension)
    else:
        lists = pa.ListArray.from_arrays(pa.array(np.arange(len(batch) + 1, dtype=np.int32) * info.dimension), flat)
    return pa.Table.from_arrays([*columns, lists.cast(schema[-1].type)], schema=schema)


def _offsets(values: Any, pa: Any) -> Any:
    if pa.types.is_fixed_size_list(values.type):
        return np.arange(len(values) + 1) * values.type.list_size
    return values.offsets.to_numpy()


def _to_json(payload: dict[str, Any], address: str) -> str:
    try:
        return json.dumps(payload, ensure_ascii=False)
    except TypeError as error:
        raise InputError(f"{address}: expected a payload that JSON can hold, got {error}; convert it first") from error
