"""Many vocabularies in one space, on the pair that ships and turned copies of it; saved, loaded, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import invarot.cli.align_many
from invarot.cli.app import app
from invarot.errors import InputError
from invarot.translation import adjust, learn_many, load, load_hub, recipe
from invarot.words import Vectors, load_core_pair, write_vectors

from ..commands import make_runner

HOW = recipe("fast", effort="quick")


@pytest.fixture(scope="module")
def three():
    """English, Spanish, and English in other coordinates with other noise and other names."""
    rng = np.random.default_rng(0)
    english, spanish, _ = load_core_pair()
    english, spanish = english.first(900), spanish.first(900)
    turn = np.linalg.qr(rng.standard_normal((english.dimension, english.dimension)))[0]
    scale = np.std(english.vectors)
    other = english.vectors @ turn + 0.3 * scale * rng.standard_normal(english.vectors.shape)
    return {"en": english, "es": spanish, "xx": Vectors([f"{word}x" for word in english.words], other.astype("f4"))}


@pytest.fixture(scope="module")
def hub(three):
    return learn_many(three, how=HOW)


def test_words_find_their_copies(hub):
    assert hub.unrelated == ()
    model = hub.pair("en", "xx")
    x, y = model.clouds
    assert [step.name for step in model.steps] == [
        "prepare", "solve", "refine", "pooling", "local centring", "spelling", "penalties",
    ]  # fmt: skip
    x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (x, y))
    assert np.mean(np.argmax(x @ y.T, axis=1) == np.arange(900)) > 0.95


def test_a_pair_is_pooled_with_the_third_and_can_be_saved_and_adjusted(hub, tmp_path):
    model = hub.pair("es", "en")
    assert str(model.steps[3]) == "pooling: 0.1 of the mutual neighbours in xx added"
    model.save(tmp_path / "es-en")
    again = load(tmp_path / "es-en")
    np.testing.assert_array_equal(again.clouds[0], model.clouds[0])
    changed = adjust(again, local_centring=0.2)
    assert [step.name for step in changed.steps] == [step.name for step in model.steps]
    assert changed.steps[3] is again.steps[3]
    assert np.abs(changed.clouds[0] - again.clouds[0]).max() > 1e-3
    new = model.map_new_words(hub.vectors["es"].vectors[:5] * 1.01)
    assert np.all(np.sum(new * model.clouds[0][:5], axis=1) > 0.9 * np.sum(new * new, axis=1))


@pytest.mark.parametrize("maps", ["solved", "refined"])
def test_maps_lead_back_around_a_cycle(hub, maps):
    there = {name: one.astype(float) for name, one in getattr(hub, maps).items()}
    around = np.eye(len(there["en"]))
    for first, second in (("en", "es"), ("es", "xx"), ("xx", "en")):
        around = around @ there[first] @ np.linalg.pinv(there[second])
    np.testing.assert_allclose(around, np.eye(len(around)), atol=1e-6)


def test_it_is_saved_and_loaded(hub, tmp_path):
    hub.save(tmp_path / "hub")
    again = load_hub(tmp_path / "hub")
    assert again.pairs == hub.pairs
    assert again.recipe == hub.recipe
    for name in ("en", "es", "xx"):
        np.testing.assert_array_equal(again.mapped(name).vectors, hub.mapped(name).vectors)
        assert again.mapped(name).words == hub.vectors[name].words


def test_a_vocabulary_of_noise_is_named(three):
    noise = Vectors([f"w{k}" for k in range(900)], np.random.default_rng(1).standard_normal((900, 50)).astype("f4"))
    found = learn_many({**{name: three[name] for name in ("en", "xx")}, "no": noise}, how=HOW)
    assert found.unrelated == ("no",)
    with pytest.raises(InputError, match="'no', which is unrelated"):
        found.mapped("no")


@pytest.mark.parametrize(
    "how",
    [recipe("fast", **one) for one in ({"p": 2.0}, {"overlap": "auto"}, {"stages": (500, 900)}, {"start": "axes"})],
)
def test_a_recipe_that_many_vocabularies_cannot_follow_is_refused(how):
    with pytest.raises(
        InputError, match="how: expected a recipe with start='auto', p=inf, one stage, no schedule and no"
    ):
        learn_many({}, how=how)


def test_one_vocabulary_is_refused():
    with pytest.raises(InputError, match="sources: expected a dict of at least two"):
        learn_many({"en": None}, how="fast")


def test_the_command(three, tmp_path):
    paths = []
    for name, one in ((name, three[name]) for name in ("en", "xx")):
        paths.append(str(tmp_path / f"{name}.vec"))
        write_vectors(paths[-1], one.words, one.vectors, format="vec")
    out = str(tmp_path / "hub")
    done = make_runner().invoke(app, ["align-many", *paths, "-o", out, "--preset", "fast", "--mapped", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["spaces"], told["unrelated"]) == (["en", "xx"], [])
    assert [(one["first"], one["second"]) for one in told["pairs"]] in ([("en", "xx")], [("xx", "en")])
    assert (tmp_path / "hub-mapped.xx.vec").is_file()
    assert load_hub(out).vectors["xx"].words == three["xx"].words
    again = make_runner().invoke(app, ["align-many", *paths[:1], paths[0], "-o", out])
    assert isinstance(again.exception, InputError)
    assert invarot.cli.align_many.align_many_command
