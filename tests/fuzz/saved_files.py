"""Saved models that were damaged, or forged so that every checksum agrees."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import invarot
from invarot import Exact
from invarot.errors import InputError
from invarot.folders import ALIGNMENT, TRANSLATION, Kind
from invarot.translation import adjust, learn, recipe
from invarot.translation import load as load_translation
from invarot.words import Vectors

from ..saved import put_together, take_apart
from .vector_files import damage

JUNK: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 7, 10**30, 0.0, -0.5, 1e308, "", "x", "inf", [], {}, [1], [[]], {"float": "nan"}, {"float": "inf"}, {"float": "x"},
    {"float": []}, {"a": 1}, "\ud800", "aligned", ["unit"], ["center", "center"], [None], "auto", 2**63, [0.5, 0.5],
)  # fmt: skip
LOADERS = {ALIGNMENT: invarot.load, TRANSLATION: load_translation}


def make_models(folder: Path) -> list[tuple[Path, Kind]]:
    """Save an alignment of each kind of plan and a translation with every step, and return where."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(9, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    invarot.align(x, x[::-1] @ turn, translate=True, start="axes").save(folder / "entropic")
    invarot.align(x, x[::-1] @ turn, solver=Exact(), start="axes").save(folder / "sparse")
    sides = [
        Vectors(tuple(f"{name}{i}" for i in range(9 + 3)), rng.gamma(2.0, size=(12, 3)).astype(np.float32))
        for name in "ab"
    ]
    from invarot.translation.steps import local_centring, penalties

    before = local_centring.FEWEST_CENTRED, penalties.FEWEST_PENALISED
    local_centring.FEWEST_CENTRED = penalties.FEWEST_PENALISED = 2  # every step is applied
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            how = recipe("fast", start="axes", local_centring=0.2, match_penalty=0.3, rank_penalty=0.02)
            model = adjust(learn(*sides, how=how, dictionary=[("a0", "b0")]), spelling=0.4)
    finally:
        local_centring.FEWEST_CENTRED, penalties.FEWEST_PENALISED = before
    model.save(folder / "translation")
    return [(folder / "entropic", ALIGNMENT), (folder / "sparse", ALIGNMENT), (folder / "translation", TRANSLATION)]


def _find_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (container, key) inside ``value``."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _find_places(value[key])


def forge_facts(rng: Random, facts: dict[str, Any]) -> None:
    """Change, delete or add up to three values."""
    for _ in range(rng.randint(1, 3)):
        places = [place for place in _find_places(facts) if place[1] not in ("checksum", "arrays")]
        container, key = rng.choice(places)
        kind = rng.random()
        if kind < 0.65:
            container[key] = copy.deepcopy(rng.choice(JUNK))
        elif kind < 0.8 and len(container):
            del container[key]
        elif isinstance(container, dict):
            container[rng.choice(("x", "map", "name", "epsilon", "float"))] = copy.deepcopy(rng.choice(JUNK))
        else:
            container.append(copy.deepcopy(rng.choice(JUNK)))


def forge_arrays(rng: Random, arrays: dict[str, Any]) -> None:
    """Change, drop or add one or two arrays."""
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(sorted(arrays))
        array = arrays[name]
        kind = rng.randrange(8)
        if kind == 0:
            del arrays[name]
        elif kind == 1:
            arrays[rng.choice(("x", "plan.q", "solve.extra", "prepare.source_mean_7"))] = array
        elif kind == 2:
            arrays[name] = array.astype(rng.choice(("f4", "f8", "i4", "u1", "bool", "f2")), casting="unsafe")
        elif kind == 3:
            arrays[name] = np.ascontiguousarray(array[: rng.randint(0, len(array))])
        elif kind == 4:
            arrays[name] = array.reshape(rng.choice(((-1,), (1, *array.shape), (*array.shape, 1))))
        elif kind == 5:
            arrays[name] = np.concatenate([array, array])
        elif kind == 6 and array.size:
            flat = array.copy().reshape(-1)
            flat[rng.randrange(flat.size)] = (
                rng.choice((0, 255)) if array.dtype.kind == "u" else rng.choice((-1, 0, 10**6))
            )
            arrays[name] = flat.reshape(array.shape)
        elif array.dtype.kind == "f" and array.size:
            arrays[name] = array * rng.choice((np.nan, np.inf, 0, 1e30, -1))
        if not arrays:
            return


def use(model: Any) -> None:
    """Do with a model what people do; what it says may be nonsense, but it has to work."""
    str(model)
    if isinstance(model, invarot.Alignment):
        model.transform(np.ones((1, model.map.shape[0])))
        for how in ("auto", "plan", "nearest"):
            model.matches(how)
        model.plan.marginals()
        model.plan.cost()
        model.spectrum()
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", invarot.NotTrusted)  # a forged verdict may say so
        model.translate(model.source.words[:2], k=2)
    model.mapped()
    model.map_new_words(np.ones((1, model.source.dimension)), words=["new"])
    model.evaluate([(model.source.words[0], model.target.words[0])])


def try_saved(rng: Random, folder: Path, models: list[tuple[Path, Kind]]) -> str:
    """Load one forged or damaged model: "loaded", "equal" or "refused"; anything else raises."""
    path, kind = rng.choice(models)
    (folder / "m").mkdir(exist_ok=True)
    file = folder / "m" / kind.file
    damaged = rng.random() < 0.3
    whole = (path / kind.file).read_bytes()
    if damaged:
        file.write_bytes(damage(rng, whole))
    else:
        arrays, facts = take_apart(path, kind)
        if rng.random() < 0.7:
            forge_facts(rng, facts)
        if rng.random() < 0.5:
            with np.errstate(all="ignore"):
                forge_arrays(rng, arrays)
        put_together(folder / "m", kind, arrays, facts)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = LOADERS[kind](folder / "m")
    except InputError:
        return "refused"
    finally:
        content = file.read_bytes()
        file.unlink()
    if damaged:
        again = take_apart_bytes(content, kind, folder)
        assert again == take_apart_bytes(whole, kind, folder), "a damaged file was taken for whole"
        return "equal"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        use(model)
    return "loaded"


def take_apart_bytes(content: bytes, kind: Kind, folder: Path) -> tuple[dict[str, bytes], str]:
    """Return all that a saved file holds, to be compared."""
    (folder / "n").mkdir(exist_ok=True)
    (folder / "n" / kind.file).write_bytes(content)
    arrays, facts = take_apart(folder / "n", kind)
    return {name: array.tobytes() for name, array in arrays.items()}, repr(sorted(facts.items()))
