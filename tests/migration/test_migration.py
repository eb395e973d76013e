"""From two stores to a migrated one: what is known beforehand comes out, and bad input is named."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

import invarot.migration as migration
import invarot.stores as stores
from invarot.errors import InputError
from invarot.migration import Adapter
from invarot.migration.pairs import find_pairs
from invarot.migration.recall import Recall, compare_clouds, estimate_recall, join_spaces, measure_recall
from invarot.migration.sample import draw
from invarot.stores import Batch, Info

RNG = np.random.default_rng(0)
TOPICS = RNG.gamma(0.5, size=(60, 6))
TEXTS = (TOPICS[RNG.integers(60, size=900)] + 0.03 * RNG.normal(size=(900, 6))).astype(np.float32)
TURN = np.linalg.qr(RNG.normal(size=(8, 8)))[0][:6].astype(np.float32)  # orthonormal rows: six dimensions into eight


@pytest.fixture
def both(tmp_path):
    """An old store of 600 texts with ids and payload, and 300 other texts in the new model."""
    path = tmp_path / "old.npz"
    old = stores.open(path)
    old.begin(Info(600, 6), 600)
    payload = [{"title": f"text {k}"} for k in range(600)]
    old.append(Batch([f"t{k}" for k in range(600)], TEXTS[:600], payload))
    old.finish()
    np.save(tmp_path / "new.npy", TEXTS[600:] @ TURN)
    return old, stores.open(tmp_path / "new.npy")


def found(both, **options):
    return migration.fit(*both, start=TURN, **options)


def test_the_map_is_found_and_the_store_is_mapped(both, tmp_path):
    result = migration.fit(*both)
    assert result.verdict.word == "aligned"
    np.testing.assert_allclose(result.adapter.map, TURN, atol=0.15)
    new = stores.open(tmp_path / "mapped.npz")
    assert migration.map_store(both[0], new, result.adapter, info=result.old, size=128) == 600
    (batch,) = new.read(1000)
    assert batch.ids == [f"t{k}" for k in range(600)]
    assert batch.payload[7] == {"title": "text 7"}
    np.testing.assert_allclose(batch.vectors, result.adapter.apply(TEXTS[:600]), rtol=1e-6)
    kept = migration.load(migration.journal_of(new))
    assert kept.facts["state"] == "complete"
    assert kept.facts["verdict"] == "aligned"
    assert not list(tmp_path.glob("*.part"))


class Stops(Exception):
    pass


def test_a_copy_that_was_stopped_goes_on_with_the_same_map(both, tmp_path):
    new, adapter = stores.open(tmp_path / "mapped.npz"), found(both).adapter

    def stop(rows: int) -> None:
        if rows >= 256:
            raise Stops

    with pytest.raises(Stops):
        migration.map_store(both[0], new, adapter, size=128, on_rows=stop)
    assert not new.path.exists()
    again = stores.open(tmp_path / "mapped.npz")
    unfinished = migration.find_unfinished(*both, again)
    np.testing.assert_array_equal(unfinished.map, adapter.map)
    seen = []
    assert migration.map_store(both[0], again, unfinished, size=9, on_rows=seen.append) == 600
    assert seen == [384, 512, 600]  # in the batches it began with
    (batch,) = again.read(1000)
    assert batch.ids == [f"t{k}" for k in range(600)]
    assert migration.find_unfinished(*both, again) is None


def test_an_unfinished_copy_of_something_else(both, tmp_path):
    new = stores.open(tmp_path / "mapped.npz")
    with pytest.raises(Stops):
        migration.map_store(both[0], new, found(both).adapter, size=128, on_rows=_stop)
    np.save(tmp_path / "other.npy", TEXTS[600:] @ TURN)
    with pytest.raises(InputError, match="expected the sample of the unfinished copy there"):
        migration.find_unfinished(both[0], stores.open(tmp_path / "other.npy"), new)


def _stop(rows: int) -> None:
    raise Stops


def test_an_existing_store_is_not_overwritten(both, tmp_path):
    new, adapter = stores.open(tmp_path / "mapped.npy"), found(both).adapter
    np.save(tmp_path / "mapped.npy", np.eye(3))
    with pytest.raises(InputError, match="expected a new store, got one that exists"):
        migration.map_store(both[0], new, adapter)
    assert new.info().count == 3
    migration.map_store(both[0], new, adapter, replace_existing=True)
    assert new.info().count == 600
    with pytest.raises(InputError, match="expected another store than the source"):
        migration.map_store(both[0], both[0], adapter)


PLACES = {
    "npz": ("{}/new.npz", ""), "parquet": ("{}/new.parquet", "pyarrow"), "faiss": ("{}/new.faiss", "faiss"),
    "lancedb": ("lancedb:{}/db#new", "lancedb"), "qdrant": ("qdrant:{}/db#new", "qdrant_client"),
    "chroma": ("chroma:{}/db#new", "chromadb"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_store_is_replaced_only_by_a_complete_one(both, tmp_path, kind, monkeypatch):
    """Stopped while it is written, or while it takes the place of the other, there is always one whole store; then it goes on."""
    address, package = PLACES[kind]
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'invarot[stores]'")
    new, adapter = stores.open(address.format(tmp_path)), found(both).adapter
    beside = stores.open_beside(new.address)
    migration.map_store(both[0], new, migration.Adapter(np.eye(6, 7, dtype=np.float32)), size=128)
    with pytest.raises(Stops):
        migration.map_store(both[0], new, adapter, size=128, replace_existing=True, on_rows=_stop)
    assert (new.info().count, new.info().dimension) == (600, 7)
    unfinished = migration.find_unfinished(*both, beside)
    assert unfinished is not None
    exchange = type(new).replace_by
    monkeypatch.setattr(type(new), "replace_by", lambda self, other: _stop(0))
    with pytest.raises(Stops):
        migration.map_store(both[0], new, unfinished, replace_existing=True)
    assert (new.info().dimension, beside.info().count, beside.info().dimension) == (7, 600, 8)
    monkeypatch.setattr(type(new), "replace_by", exchange)
    complete = migration.find_unfinished(*both, beside)
    assert migration.map_store(both[0], new, complete, replace_existing=True) == 600
    assert (new.info().count, new.info().dimension) == (600, 8)
    got = {id: payload for batch in new.read(100) for id, payload in zip(batch.ids, batch.payload, strict=True)}
    assert len(got) == 600
    assert not beside.exists()
    assert not list(tmp_path.rglob("*replac*"))
    new.close()


def test_a_source_is_not_replaced_by_its_copy(both, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    again = stores.open(tmp_path / "link" / Path(both[0].address).name)
    for same in (again, stores.open(os.path.relpath(both[0].address))):
        with pytest.raises(InputError, match="expected another store than the source"):
            migration.map_store(both[0], same, found(both).adapter, replace_existing=True)


@pytest.mark.parametrize("kind", ["parquet", "lancedb"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_into_other_engines(both, tmp_path, kind):
    package = {"parquet": "pyarrow"}.get(kind, kind)
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'invarot[stores]'")
    new = stores.open({"parquet": f"{tmp_path}/new.parquet"}.get(kind, f"{kind}:{tmp_path}/db#new"))
    result = found(both)
    cost = migration.estimate_cost(both[0], new, result.adapter, result.old, 0.1)
    assert not new.exists()
    assert cost.seconds > 0
    assert cost.bytes > 600 * 8 * 4 * 0.9
    migration.map_store(both[0], new, result.adapter, info=result.old, size=256)
    got = {id: payload for batch in new.read(100) for id, payload in zip(batch.ids, batch.payload, strict=True)}
    assert got == {f"t{k}": {"title": f"text {k}"} for k in range(600)}


# -- pairs and recall --------------------------------------------------------------------------------------------------


def test_pairs_enter_the_solve_and_check_pairs_do_not(both, tmp_path):
    np.save(tmp_path / "same.npy", TEXTS[:600] @ TURN)
    new = stores.open(tmp_path / "same.npy")
    listed = [(f"t{k}", k) for k in range(0, 600, 3)]
    result = migration.fit(both[0], new, pairs=listed[:100], check_pairs=listed[100:], start="seeds")
    assert result.alignment.settings["seeds"] == 100
    assert result.adapter.facts["pairs"] == 100
    assert result.recall.measured
    assert result.recall.value > 0.85
    assert result.is_good(0.85)
    assert not result.is_good(1.0) or result.recall.value == 1.0
    with pytest.raises(InputError, match="got 1 pairs of which none is in both"):
        found(both, pairs=[("x", "y")])


def test_pairs_from_a_file_and_by_equal_ids(both, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("t0\t5\nt 1\t6\n\n")
    assert find_pairs(str(file), *both, "pairs") == {"t0": "5", "t 1": "6"}
    file.write_text("a b c\n")
    with pytest.raises(InputError, match="expected two ids per line, got 'a b c' in line 1"):
        find_pairs(file, *both, "pairs")
    with pytest.raises(InputError, match="got none in common"):
        find_pairs("ids", *both, "pairs")
    assert find_pairs("ids", both[0], both[0], "pairs")["t17"] == "t17"
    assert len(find_pairs("ids", both[0], both[0], "pairs", share=0.25)) == 150
    with pytest.raises(InputError, match="expected a file of two ids per line"):
        find_pairs("nowhere.txt", *both, "pairs")


def test_recall_is_one_for_the_same_vectors_and_falls_with_noise():
    rng = np.random.default_rng(1)
    points = _unit(rng.normal(size=(400, 5)))
    assert measure_recall(points, points, store=400).value == 1.0
    noisy = [_unit(points + s * rng.normal(size=points.shape)) for s in (0.05, 0.25)]
    little, much = (measure_recall(one, points, store=400) for one in noisy)
    assert 1 > little.value > much.value > 0.1
    assert measure_recall(points, points, store=6400).value == 1.0
    larger = measure_recall(noisy[0], points, store=1600)
    assert larger.raw == little.raw
    more = _unit(rng.normal(size=(1600, 5)))
    true = measure_recall(_unit(more + 0.05 * rng.normal(size=more.shape)), more, store=1600)
    assert larger.value == pytest.approx(true.value, abs=0.05)
    assert larger.value < little.value - 0.03
    assert "measured on 400 pairs" in str(larger)
    with pytest.raises(InputError, match="expected at least 50 pairs"):
        measure_recall(points[:20], points[:20], store=100)


def test_other_texts_stand_in_for_a_larger_store():
    """300 pairs, and other texts, say about what 3,000 pairs would."""
    rng = np.random.default_rng(3)
    truth = _unit(rng.normal(size=(6000, 5)))
    mapped = _unit(truth + 0.08 * rng.normal(size=truth.shape))
    whole = measure_recall(mapped[:3000], truth[:3000], store=3000)
    part = measure_recall(mapped[:300], truth[:300], others=(mapped[300:3000], truth[2400:]), store=3000)
    alone = measure_recall(mapped[:300], truth[:300], store=300)
    assert part.value == pytest.approx(whole.value, abs=0.06)  # a little low: the two spaces are filled by other texts
    assert alone.raw > whole.raw + 0.1


def test_the_estimate_without_pairs_falls_with_what_two_clouds_disagree_on():
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(200, 20))
    cloud = lambda count: _unit(centres[rng.integers(200, size=count)] + 0.2 * rng.normal(size=(count, 20)))  # noqa: E731
    noise = lambda count: _unit(rng.normal(size=(count, 20)))  # noqa: E731
    new = cloud(1500)
    assert compare_clouds(cloud(300), cloud(1500), cloud(300), new)[0] > 0.95
    assert compare_clouds(noise(300), noise(1500), cloud(300), new)[0] < 0.9
    near = estimate_recall(np.eye(20), cloud(300), cloud(1500), cloud(300), new, store=1500)
    far = estimate_recall(np.eye(20), noise(300), noise(1500), cloud(300), new, store=1500)
    assert estimate_recall(np.eye(20), cloud(300), cloud(1500), cloud(300), new, store=10**6).value < near.value
    assert near.value > far.value
    assert not near.measured
    assert any("check_pairs=" in line for line in near.meaning)


def test_the_estimate_is_the_same_in_both_directions_whatever_the_dimensions():
    """A model that has more dimensions agrees no better when it is brought to a smaller one: its own part does not vanish."""
    rng = np.random.default_rng(3)
    centres, own = rng.normal(size=(200, 8)), rng.normal(size=(200, 8))
    topics = rng.integers(200, size=(2, 2100))
    small = lambda rows: _unit(centres[rows] + 0.2 * rng.normal(size=(len(rows), 8)))  # noqa: E731
    large = lambda rows: _unit(np.c_[small(rows), _unit(own[rows])])  # noqa: E731
    turn = np.eye(16, 8)
    cut = lambda make, rows: (make(rows[:300]), make(rows[300:]))  # noqa: E731
    down = estimate_recall(turn, *cut(large, topics[0]), *cut(small, topics[1]), store=1500)
    up = estimate_recall(turn.T, *cut(small, topics[0]), *cut(large, topics[1]), store=1500)
    assert down.value == pytest.approx(up.value, abs=0.05)
    joined = join_spaces(turn, (large(topics[0][:5]), large(topics[0][5:9])), (small(topics[1][:3]),))
    assert [one.shape[1] for one in joined] == [16, 16, 16]


def _unit(points):
    return points / np.linalg.norm(points, axis=1, keepdims=True)


# -- sample ------------------------------------------------------------------------------------------------------------


def test_a_sample_is_drawn_from_all_rows(both):
    drawn = draw(both[0], 200, np.random.default_rng(0), keep={"t3"})
    assert drawn.vectors.shape == (200, 6)
    np.testing.assert_allclose(np.linalg.norm(drawn.vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(drawn.kept["t3"], TEXTS[3] / np.linalg.norm(TEXTS[3]), rtol=1e-5)
    assert (drawn.info.whole_ids, drawn.info.payload) == (False, True)
    again = draw(both[0], 200, np.random.default_rng(0), keep={"t3"})
    np.testing.assert_array_equal(drawn.vectors, again.vectors)
    rows = _unit(TEXTS[:600])
    places = np.argmax(drawn.vectors @ rows.T, axis=1)
    assert places.max() > 550  # the end of the store is in it
    assert len(set(places)) == 200


def test_an_id_twice(tmp_path):
    np.savez(tmp_path / "twice.npz", vectors=np.eye(3), ids=np.array(["a", "b", "a"]))
    with pytest.raises(InputError, match="expected a different id in every row, got 1 repeated ids"):
        draw(stores.open(tmp_path / "twice.npz"), 10, np.random.default_rng(0))


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_a_sample_smaller_than_the_dimension(both, tmp_path):
    np.save(tmp_path / "few.npy", np.eye(5, 8))
    with pytest.raises(InputError, match="new: expected at least as many vectors as dimensions, 8, got 5"):
        migration.fit(both[0], stores.open(tmp_path / "few.npy"))


def test_the_same_model_on_both_sides(both, tmp_path):
    np.save(tmp_path / "same.npy", TEXTS[600:])
    with pytest.raises(InputError, match="the same model on both sides: nothing to do"):
        migration.fit(both[0], stores.open(tmp_path / "same.npy"))


def test_at_least_needs_a_measurement(both):
    with pytest.raises(InputError, match="at_least: expected together with check_pairs"):
        found(both).is_good(0.5)


# -- adapters ----------------------------------------------------------------------------------------------------------


def test_an_adapter_comes_back_and_keeps_lengths(tmp_path):
    adapter = Adapter(TURN, {"recall": float("nan"), "source": "old"})
    adapter.save(tmp_path / "a.safetensors")
    again = migration.load(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(again.map, TURN)
    assert again.facts["source"] == "old"
    rows = TEXTS[:5]
    wide = Adapter(np.asarray(TURN.T))  # eight dimensions into six: lengths would shrink
    lengths = np.linalg.norm(wide.apply(np.ones((3, 8))), axis=1)
    np.testing.assert_allclose(lengths, 8**0.5, rtol=1e-6)
    np.testing.assert_allclose(adapter.inverse().apply(adapter.apply(rows)), rows, atol=1e-5)
    np.testing.assert_array_equal(adapter.apply(np.zeros((1, 6))), np.zeros((1, 8)))


def test_mapped_queries_rank_an_old_store_as_mapped_vectors_rank_new_queries():
    adapter, queries = Adapter(TURN), RNG.normal(size=(4, 8)).astype(np.float32)
    forth = queries @ adapter.apply(TEXTS).T
    back = (queries @ adapter.inverse().map) @ TEXTS.T
    np.testing.assert_allclose(forth, back, atol=1e-4)


def test_files_that_are_no_adapters(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "a.safetensors"
    save_file({"map": TURN}, path)
    with pytest.raises(InputError, match="which this library did not write"):
        migration.load(path)
    Adapter(TURN).save(path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="to match its checksum"):
        migration.load(path)
    path.write_bytes(content[:50])
    with pytest.raises(InputError, match="truncated, altered or another kind of file"):
        migration.load(path)
    with pytest.raises(InputError, match="expected 6 columns"):
        Adapter(TURN).apply(np.ones((1, 3)))


def test_recall_of_chance_is_no_recall():
    chance = Recall(value=0.0, margin=0.01, measured=True, raw=0.0, documents=600)
    assert chance.is_chance
    assert "do not name the same texts" in chance.meaning[0]
    assert not Recall(value=0.5, margin=0.02, measured=True, raw=0.5, documents=600).is_chance
    assert not Recall(value=0.3, margin=0.15, measured=True, raw=0.3, documents=10).is_chance  # few pairs
    assert not Recall(value=0.0, margin=0.5, measured=False, raw=0.0, documents=600).is_chance  # an estimate
