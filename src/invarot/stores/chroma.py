"""Chroma collections: in a local folder, or on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlparse

from ..errors import InputError, MissingExtra
from .protocol import Batch, Info, check_vectors, folder_size, is_url, missing, retry

if TYPE_CHECKING:
    from .address import Place

T = TypeVar("T")
METRICS = {"cosine": "cosine", "dot": "ip", "l2": "l2"}
DOCUMENT = "document"  # the key of the payload that is Chroma's document


class ChromaCollection:
    """A collection. Ids are strings, payload is flat; adding a row again replaces it."""

    def __init__(self, place: Place) -> None:
        self.where, self.name = place.where, place.collection
        self.address = f"chroma:{place.where}#{place.collection}"
        self.remote = is_url(place.where)

    def exists(self) -> bool:
        if not self.remote and not (Path(self.where) / "chroma.sqlite3").is_file():
            return False
        return self.name in [one.name for one in self._call(lambda client: client.list_collections())]

    def info(self) -> Info:
        collection = self._open()
        first = self._call(lambda _: collection.get(limit=1, include=["embeddings"]))["embeddings"]
        if not len(first):
            raise InputError(f"{self.address}: expected rows with vectors, got an empty collection; name another one")
        space = (collection.configuration.get("hnsw") or {}).get("space", "l2")
        named = {value: key for key, value in METRICS.items()}
        return Info(self._call(lambda _: collection.count()), len(first[0]), named.get(space, "l2"))

    def read(self, size: int, start: int = 0) -> Iterator[Batch]:
        collection, dimension = self._open(), self.info().dimension
        for row in range(start, self._call(lambda _: collection.count()), size):
            found = self._page(collection, size, row)
            payload = [
                {**(facts or {}), **({} if text is None else {DOCUMENT: text})}
                for facts, text in zip(found["metadatas"], found["documents"], strict=True)
            ]
            yield Batch(found["ids"], check_vectors(found["embeddings"], self.address, row, dimension), payload)

    def _page(self, collection: Any, size: int, row: int) -> dict[str, Any]:
        wanted = ["embeddings", "metadatas", "documents"]
        found: dict[str, Any] = self._call(lambda _: collection.get(limit=size, offset=row, include=wanted))
        return found

    def begin(self, info: Info, size: int) -> int:
        if self.exists():
            try:
                return self._whole_rows(info.count, size)
            except InputError:  # killed while it wrote its index, Chroma cannot read the collection again
                self.drop()
        space = {"hnsw": {"space": METRICS[info.metric]}}
        make = lambda client: client.create_collection(self.name, configuration=space, embedding_function=None)  # noqa: E731
        try:
            self._call(make)
        except (ValueError, _errors().InvalidArgumentError) as error:
            raise InputError(
                f"{self.address}: expected a name that Chroma allows, got {error}; choose another name"
            ) from error
        return 0

    def _whole_rows(self, expected: int, size: int) -> int:
        """Read what is there, since its rows and its index may differ after a crash; half a batch is written again."""
        count = sum(len(batch) for batch in self.read(size)) if self._call(lambda _: self._open().count()) else 0
        return count if count == expected else count // size * size

    def append(self, batch: Batch) -> None:
        collection = self._open()
        most = self._call(lambda client: client.get_max_batch_size())
        facts, texts = zip(*map(_split, batch.ids, batch.payload), strict=True)
        for first in range(0, len(batch), most):
            rows = slice(first, first + most)
            part = {"metadatas": list(facts[rows]), "documents": list(texts[rows]), "embeddings": batch.vectors[rows]}
            names = [str(id) for id in batch.ids[rows]]
            try:
                self._call(partial(_upsert, collection, names, part))
            except (ValueError, TypeError) as error:
                raise InputError(
                    f"{self.address}: expected a payload of strings, numbers and flags, got others ({error}); choose "
                    "another store"
                ) from error

    def finish(self) -> None:
        """A collection is complete as it is."""

    def drop(self) -> None:
        if self.exists():
            self._call(lambda client: client.delete_collection(self.name))

    def replace_by(self, other: ChromaCollection) -> None:
        if other.exists():
            self.drop()
            other._call(lambda _: other._open().modify(name=self.name))

    def space(self) -> int | None:
        return None if self.remote else folder_size(Path(self.where))

    def close(self) -> None:
        """Chroma keeps no lock between calls."""

    def _open(self) -> Any:
        if not self.exists():
            raise missing(self.address, "a Chroma collection")
        return self._call(lambda client: client.get_collection(self.name, embedding_function=None))

    def _call(self, work: Callable[[Any], T]) -> T:
        damaged = _errors().InternalError
        try:
            if self.remote:
                return retry(lambda: work(_client(self.where)), self.address, _is_gone)
            return work(_client(self.where))
        except damaged as error:
            raise InputError(
                f"{self.address}: expected a collection that Chroma can read, got a damaged one ({error}); restore it from a copy"
            ) from error


def _upsert(collection: Any, ids: list[str], part: dict[str, Any], _: Any) -> None:
    collection.upsert(ids=ids, **part)


def _split(id: Any, payload: dict[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """Split a payload into Chroma's metadata and document."""
    text = payload.get(DOCUMENT)
    if text is not None and not isinstance(text, str):
        raise InputError(
            f"payload: expected a string in {DOCUMENT!r}, got {type(text).__name__} in row {id!r}; convert it to a string"
        )
    return {key: value for key, value in payload.items() if key != DOCUMENT} or None, text


def _errors() -> Any:
    try:
        import chromadb.errors
    except ImportError as error:
        raise MissingExtra("A Chroma collection", "chroma") from error
    return chromadb.errors


def _is_gone(error: Exception) -> bool:
    import httpx

    return isinstance(error, (httpx.TransportError, ConnectionError)) or "Could not connect" in str(error)


@lru_cache(maxsize=8)
def _client(where: str) -> Any:
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    if not is_url(where):
        return chromadb.PersistentClient(where, settings=settings)
    url = urlparse(where)
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 8000)
    return chromadb.HttpClient(host=url.hostname or "localhost", port=port, ssl=secure, settings=settings)
