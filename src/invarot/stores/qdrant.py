"""Qdrant collections: in a local folder, or on a server."""

from __future__ import annotations

import atexit
import uuid
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import InputError, MissingExtra
from .protocol import Batch, Info, check_vectors, folder_size, is_url, missing, retry

if TYPE_CHECKING:
    from .address import Place

T = TypeVar("T")
METRICS = {"cosine": "Cosine", "dot": "Dot", "l2": "Euclid"}
PAGE = 2048  # rows at a time
ORIGINAL = "id"  # the key of the payload that keeps an id Qdrant cannot hold


class QdrantCollection:
    """A collection. Rows come in the order of their ids; adding a row again replaces it."""

    def __init__(self, place: Place) -> None:
        self.where, self.name, self.options = place.where, place.collection, place.options
        self.address = f"qdrant:{place.where}#{place.collection}"
        self.remote = is_url(place.where)

    def exists(self) -> bool:
        if not self.remote and not Path(self.where).is_dir():
            return False
        return bool(self._call(lambda client: client.collection_exists(self.name)))

    def info(self) -> Info:
        name, params = self._vectors()
        named = {value: key for key, value in METRICS.items()}
        count = self._call(lambda client: client.count(self.name, exact=True)).count
        return Info(count, params.size, named.get(params.distance.value, "l2"), vector_name=name or "vector")

    def read(self, size: int, start: int = 0) -> Iterator[Batch]:
        name, params = self._vectors()
        row, after = 0, None
        while True:
            wanted = row >= start
            limit = size if wanted else min(size, start - row)
            points, after = self._page(limit, after, name, vectors=wanted)
            if points and wanted:
                yield self._to_batch(points, name, row, params.size)
            row += len(points)
            if after is None:
                return

    def _page(self, limit: int, after: Any, name: str, *, vectors: bool) -> tuple[list[Any], Any]:
        chosen = ([name] if name else True) if vectors else False
        found: tuple[list[Any], Any] = self._call(
            lambda client: client.scroll(
                self.name, limit=limit, offset=after, with_vectors=chosen, with_payload=vectors
            )
        )
        return found

    def _to_batch(self, points: list[Any], name: str, row: int, dimension: int) -> Batch:
        values = [point.vector.get(name) if name and point.vector else point.vector for point in points]
        lost = next((k for k, value in enumerate(values) if value is None), None)
        if lost is not None:
            raise InputError(
                f"{self.address}: expected a vector in every point, got none in {points[lost].id}; drop or embed it"
            )
        payload = [dict(point.payload or {}) for point in points]
        return Batch([point.id for point in points], check_vectors(values, self.address, row, dimension), payload)

    def begin(self, info: Info, size: int) -> int:
        if not self.exists():
            params = _qdrant().models.VectorParams(
                size=info.dimension, distance=_qdrant().models.Distance(METRICS[info.metric])
            )
            self._call(lambda client: client.create_collection(self.name, vectors_config=params))
            return 0
        count = self._call(lambda client: client.count(self.name, exact=True)).count
        return int(count if count == info.count else count // size * size)  # half a batch is written again

    def append(self, batch: Batch) -> None:
        ids, payload = zip(*map(_storable, batch.ids, batch.payload), strict=True)
        points = _qdrant().models.Batch(ids=list(ids), vectors=batch.vectors.tolist(), payloads=list(payload))
        self._call(lambda client: client.upsert(self.name, points=points, wait=True))

    def finish(self) -> None:
        """A collection is complete as it is."""

    def drop(self) -> None:
        if self.exists():
            self._call(lambda client: client.delete_collection(self.name))

    def replace_by(self, other: QdrantCollection) -> None:
        """Copy the rows: Qdrant renames no collection. Until all are there, ``other`` stays."""
        if not other.exists():
            return
        self.drop()
        self.begin(other.info(), PAGE)
        for batch in other.read(PAGE):
            self.append(batch)
        other.drop()

    def space(self) -> int | None:
        return None if self.remote else folder_size(Path(self.where) / "collection" / self.name)

    def close(self) -> None:
        """Close a local folder, for every collection in it: another process may open it then."""
        if not self.remote:
            _client(self.where).close()
            _client.cache_clear()

    def _vectors(self) -> tuple[str, Any]:
        """Return the name of the vectors ("" for the only, unnamed ones) and their parameters."""
        if not self.exists():
            raise missing(self.address, "a Qdrant collection")
        found = self._call(lambda client: client.get_collection(self.name)).config.params.vectors
        if not isinstance(found, dict):
            return "", found
        asked = self.options.get("vector") or (next(iter(found)) if len(found) == 1 else None)
        if asked is None or asked not in found:
            raise InputError(
                f"{self.address}: expected one kind of vectors, got {sorted(found)}; add ?vector=NAME to the address"
            )
        return asked, found[asked]

    def _call(self, work: Callable[[Any], T]) -> T:
        client = _client(self.where)
        return retry(lambda: work(client), self.address, _is_gone) if self.remote else work(client)


def _storable(id: Any, payload: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return an id that Qdrant can hold, a whole number or a UUID; another one is kept in the payload beside a UUID of it."""
    if isinstance(id, int) and 0 <= id < 1 << 64:
        return id, payload
    try:
        return str(uuid.UUID(str(id))), payload
    except ValueError:
        if payload.get(ORIGINAL, id) != id:
            raise InputError(
                f"payload: expected no key {ORIGINAL!r}, where Qdrant keeps the id {id!r}, got {payload[ORIGINAL]!r}; rename it"
            ) from None
        return str(uuid.uuid5(uuid.NAMESPACE_OID, str(id))), {**payload, ORIGINAL: id}


def _is_gone(error: Exception) -> bool:
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    server = isinstance(error, UnexpectedResponse) and (error.status_code or 0) >= 500
    return server or isinstance(error, (ResponseHandlingException, ConnectionError))


@lru_cache(maxsize=8)
def _client(where: str) -> Any:
    """Return the client of a folder or URL: a folder can be open only once."""
    package = _qdrant()
    if is_url(where):
        return package.QdrantClient(url=where, timeout=60, check_compatibility=False)  # it may be away: `retry` says so
    try:
        client = package.QdrantClient(path=where)
        atexit.register(client.close)  # before the interpreter takes away what closing needs
        return client
    except RuntimeError as error:
        raise InputError(
            f"qdrant:{where}: expected a folder that is not in use, got one that is locked; close the other program ({error})"
        ) from error


def _qdrant() -> Any:
    try:
        import qdrant_client
    except ImportError as error:
        raise MissingExtra("A Qdrant collection", "qdrant") from error
    return qdrant_client
