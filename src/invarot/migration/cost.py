"""What a migration will cost: a trial of a few thousand rows in a temporary store of the same kind."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from ..stores import Batch, Info, Store
from ..stores import open as open_store
from ..stores.address import parse_address
from ..stores.protocol import is_url
from .adapter import Adapter

TRIAL_ROWS = 1000  # of each half of the trial; the first half only opens the store


@dataclass(frozen=True)
class Cost:
    """Seconds to copy all rows, and the bytes they will take; both None for a server, to which no trial is written."""

    seconds: float | None
    bytes: int | None

    def __str__(self) -> str:
        if self.seconds is None or self.bytes is None:
            return "not known for a server: a dry run does not write to it"
        return f"about {self.seconds:.0f} s, {self.bytes / 1e6:.1f} MB"


def estimate_cost(old: Store, destination: Store, adapter: Adapter, info: Info, read_seconds: float) -> Cost:
    """Estimate the cost of copying ``old`` to ``destination``; ``read_seconds`` is how long reading all of it took."""
    place = parse_address(destination.address)
    if is_url(place.where):
        return Cost(None, None)
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / Path(place.where).name
        trial = open_store(f"{place.engine}:{where}#{place.collection}" if place.engine else str(where))
        shape = replace(info, dimension=adapter.map.shape[1])
        rows, seconds = 0, 0.0
        trial.begin(replace(shape, count=min(info.count, 2 * TRIAL_ROWS)), TRIAL_ROWS)
        for batch in old.read(TRIAL_ROWS):
            begun = time.perf_counter()
            trial.append(Batch(batch.ids, adapter.apply(batch.vectors), batch.payload))
            seconds = time.perf_counter() - begun
            rows += len(batch)
            if rows >= min(info.count, 2 * TRIAL_ROWS):
                break
        trial.finish()
        space = trial.space() or 0
        trial.close()
    last = rows - (rows - 1) // TRIAL_ROWS * TRIAL_ROWS
    return Cost(read_seconds + seconds / last * info.count, int(space / rows * info.count))
