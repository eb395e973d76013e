"""The outcome for several spaces: a map per space into a common one, and the verdict on every pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from ..arrays import Array, as_like, keep_dtype, namespace
from ..checks import check_choice, check_new_points
from ..errors import InputError
from .history import Status
from .verdict import Verdict


@dataclass(frozen=True)
class Pair:
    """Two spaces and the verdict on the map between them.

    ``direct``: the verdict is that of their own solve, which is part of the common space; else that solve failed, and the
    verdict is that of the map through the other spaces.
    """

    first: str
    second: str
    verdict: Verdict
    direct: bool
    status: Status


@dataclass(frozen=True, eq=False, repr=False)
class ManyAlignment:
    """The result of :func:`invarot.align_many`.

    Attributes
    ----------
    maps, offsets : dict of name to (di, d) and (d,) arrays
        ``x @ maps[name] + offsets[name]`` lies in the common space. Spaces that are unrelated have none.
    pairs : tuple of Pair
        Every two spaces, with the verdict on the map between them.
    unrelated : tuple of str
        Spaces that correspond to none of those with a map.
    notes : tuple of str
        Options that had no effect, and why.
    """

    maps: dict[str, Array]
    offsets: dict[str, Array]
    pairs: tuple[Pair, ...]
    unrelated: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def transform(self, points: Any, space: str) -> Array:
        """Map points of ``space``, seen or new, into the common space; in their library, device, dtype and graph."""
        matrix, offset = self.maps[self._known(space)], self.offsets[space]
        found = check_new_points(points, matrix.shape[0], matrix, f"{space} has")
        return keep_dtype(found @ as_like(matrix, found) + as_like(offset, found), points)

    def between(self, first: str, second: str) -> tuple[Array, Array]:
        """Return the map (d1, d2) and offset (d2,) from one space into another, through the common space."""
        there = self.relative_to(second)
        return there.maps[self._known(first)], there.offsets[first]

    def relative_to(self, reference: str) -> ManyAlignment:
        """Return the same alignment with the coordinates of one of the spaces as the common space."""
        back = namespace(self.maps[self._known(reference)]).linalg.pinv(self.maps[reference])
        origin = self.offsets[reference]
        maps = {name: one @ back for name, one in self.maps.items()}
        return replace(self, maps=maps, offsets={name: (one - origin) @ back for name, one in self.offsets.items()})

    def verdict(self, first: str, second: str) -> Verdict:
        """Return the verdict on the map between two spaces."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair.verdict
        raise InputError(
            f"first, second: expected two of the spaces, got {first!r} and {second!r}; the pairs are in .pairs"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the maps and verdicts to a folder; :func:`invarot.load_many` reads them back."""
        from ..storage import save_many

        save_many(self, path)

    def _known(self, space: str) -> str:
        if space in self.unrelated:
            raise InputError(
                f"space: expected one with a map, got {space!r}, which is unrelated to the others; those with a map: {', '.join(self.maps)}"
            )
        return check_choice(space, "space", self.maps)

    def __repr__(self) -> str:
        lines = [f"ManyAlignment of {len(self.maps)} spaces: {', '.join(self.maps)}"]
        lines += [f"  {pair.first}–{pair.second}  {pair.verdict.word}{'' if pair.direct else ' (through the others)'}"
                  for pair in self.pairs]  # fmt: skip
        lines += [f"  {name}  unrelated" for name in self.unrelated]
        return "\n".join([*lines, *(f"  note  {note}" for note in self.notes)])
