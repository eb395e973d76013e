"""The studies' own arithmetic, on rows made up so that the answer is known, and the smallest real run of some."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from invarot import InputError
from invarot.baselines.procrustes import procrustes_map
from invarot.experiments import Context, find, reproduce
from invarot.experiments.clouds import make_cloud, make_shell, random_map
from invarot.experiments.findings import estimate_share
from invarot.experiments.noise import measure as measure_noise
from invarot.experiments.published import find_published
from invarot.experiments.readouts import read_out
from invarot.experiments.starts import starts_needed
from invarot.experiments.style import mean_and_sd
from invarot.experiments.systems import Job, Sizes
from invarot.experiments.tasks import core_pair, find_tasks
from invarot.experiments.tracks import along, found_something, runs_of
from invarot.experiments.words import Setting, measure, summary
from invarot.geometry.schatten import schatten_norm
from invarot.retrieval import evaluate


def test_clouds_are_what_they_say():
    rng = np.random.default_rng(0)
    white = make_cloud(50, 3, rng, whiten=True)
    assert np.allclose(white.T @ white / 50, np.eye(3))
    plain = make_cloud(50, 3, rng)
    assert np.trace(plain.T @ plain) == pytest.approx(150)
    assert not np.allclose(plain.T @ plain / 50, np.eye(3), atol=0.1)
    assert float(schatten_norm(random_map(3, 2.0, rng), 2.0)) == pytest.approx(math.sqrt(3))
    assert np.allclose(np.linalg.svd(random_map(3, math.inf, rng))[1], 1)


def test_noise_free_rotation_is_recovered_and_classic_transport_fails():
    rows = {(row["system"], row["start"]): row for row in measure_noise("F_∞", 0.0, 0, 40, 4, 0)}
    assert rows["l_∞", "auto"]["accuracy"] == rows["l_∞", "auto"]["assigned"] == 1
    assert rows["l_∞", "auto"]["map_error"] < 0.01
    assert rows["oracle", "-"]["accuracy"] > 0.9
    assert rows["EMD", "-"]["accuracy"] < 0.5
    assert rows["EMD", "-"]["map_error"] is None


def test_correlation_along_a_run_and_without_its_trend():
    rows = [{"seed": 0, "step": k, "objective": k, "precision@1": k**2 / 100} for k in range(8)]
    assert along(rows) == pytest.approx(1)
    assert math.isnan(along(rows, detrended=True))  # the objective grows evenly, as a step counter does
    uneven = [{**row, "objective": row["step"] ** 3} for row in rows]
    assert along(uneven, detrended=True) == pytest.approx(1)
    assert math.isnan(along([{**row, "precision@1": 0.0} for row in rows]))
    assert not found_something([{**row, "precision@1": 0.01} for row in rows])


def test_runs_are_told_apart():
    rows = [{"system": "a", "seed": seed, "step": step} for step in (1, 0) for seed in (0, 1)]
    rows += [{"system": "a", "pair": "en-es", "seed": 0, "step": 0}]
    assert [[row["step"] for row in run] for run in runs_of(rows)] == [[0, 1], [0, 1], [0]]


def test_starts_needed():
    assert starts_needed(estimate_share(10, 100)) == "29"  # 1 − 0.9^29 > 0.95
    assert starts_needed(estimate_share(0, 40)).startswith("more than 3")


def test_shell_is_ordered_and_has_no_symmetry():
    shell = make_shell(20, np.random.default_rng(0))
    assert shell.shape == (180, 3)
    assert np.mean(shell**2) == pytest.approx(1)
    power = np.linalg.eigvalsh(shell.T @ shell)
    assert np.min(np.diff(power)) > 0.02 * power[-1]


def test_readouts_of_a_map_that_cannot_retrieve():
    """A stretched rotation retrieves badly; its polar factor is the rotation."""
    rng = np.random.default_rng(0)
    x = make_cloud(300, 8, rng).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    turn = random_map(8, math.inf, rng).astype(np.float32)
    y = x @ turn
    stretched = (turn * np.float32([4, 4, 1, 1, 1, 1, 0.2, 0.2])).astype(np.float32)
    sizes = Sizes.of(True, 300)
    job = Job(x, y, np.zeros((0, 2), dtype=int), 0, sizes)
    found = read_out(job, job.one(stretched), None)
    assert set(found) == {"as published", "orthogonal", "refined", "re-weighted"}
    gold = {i: {i} for i in range(300)}
    score = {name: evaluate(x @ left, y @ right, gold).precision[1] for name, (left, right) in found.items()}
    assert score["as published"] < 0.9 < score["orthogonal"] <= score["refined"]


def test_published_figures():
    assert find_published("l_∞-InvarOT", "en-es") == 81.3
    assert find_published("self-learning", "de-en (core)") == 74.3
    assert find_published("Wasserstein–Procrustes", "en-it") is None
    assert find_published("earth mover", "en-es") is None


def test_mean_and_deviation_leave_out_what_is_not_there():
    rows = [{"x": 1, "y": 1.0}, {"x": 1, "y": 3.0}, {"x": 0, "y": math.nan}, {"x": 2, "y": None}, {"x": 3, "y": 5.0}]
    assert mean_and_sd(rows, "x", "y") == ([1, 3], [2.0, 5.0], [1.0, 0.0])


def test_failures_are_counted_beside_procrustes():
    shared = {"pair": "a-b", "shuffled": False, "precision_nn": 10.0, "seconds": 1.0, "device": "cpu"}
    rows = [
        {**shared, "system": "Procrustes", "precision_csls": 60.0},
        *({**shared, "system": "other", "precision_csls": value} for value in (70.0, 10.0, 20.0)),
    ]
    other = summary(rows)[1]
    assert (other["runs"], other["failed"], other["device"]) == (3, 2, "cpu")
    assert summary([*rows, {**rows[-1], "device": "cuda"}])[1]["device"] == "cpu and cuda"
    assert other["csls"] == pytest.approx(100 / 3)
    assert other["paper"] is None


def test_a_system_of_two_stages_gives_two_rows(tmp_path, monkeypatch):
    def staged(job):
        eye = np.eye(100, dtype=np.float32)
        yield "first", (eye, eye)
        yield "second", (procrustes_map(job.x, job.y, job.known), eye)

    context = Context(tmp_path, quick=True)
    monkeypatch.setitem(find("words").cells.__globals__["SYSTEMS"], "staged", staged)
    first, second = measure(find_tasks(context)[0], "staged", False, 0, context)
    assert (first["system"], second["system"]) == ("first", "second")
    assert second["seconds"] >= first["seconds"]
    assert first["precision_csls"] < 5 < second["precision_csls"]


def test_shuffled_rows_keep_their_pairs(tmp_path):
    context = Context(tmp_path, quick=True)
    task = find_tasks(context)[0]
    pair, mixed = task.load(), Setting.of(task, "earth mover", True, 0, context)
    sides = [side if isinstance(side, np.ndarray) else side.cpu().numpy() for side in (mixed.x, mixed.y)]
    assert not np.array_equal(sides[0], pair.x)
    for (i, j), (k, m) in zip(pair.train, mixed.known, strict=True):
        assert np.array_equal(sides[0][k], pair.x[i])
        assert np.array_equal(sides[1][m], pair.y[j])
    few = mixed.sizes.exact
    assert np.array_equal(
        np.sort(sides[0][:few], axis=0), np.sort(pair.x[:few], axis=0)
    )  # the same words are the frequent ones
    asked = next(iter(pair.gold.targets))
    moved = int(np.flatnonzero((sides[0] == pair.x[asked]).all(axis=1))[0])
    assert len(mixed.gold[moved]) == len(pair.gold.targets[asked])


def test_core_pair_splits_train_and_test():
    pair = core_pair(1000, reverse=False)
    assert not {i for i, _ in pair.train} & set(pair.gold.targets)
    assert len(pair.train) > 20
    back = core_pair(1000, reverse=True)
    assert back.x.shape == pair.y.shape


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"--muse.*wiki\.en\.vec"):
        find_tasks(Context(tmp_path, muse=tmp_path))


@pytest.fixture(scope="module")
def muse(tmp_path_factory):
    """A folder of MUSE's layout, wiki.XX.vec beside dictionaries/: Spanish is English turned, in another order."""
    folder = tmp_path_factory.mktemp("muse")
    rng = np.random.default_rng(0)
    english = make_cloud(300, 8, rng)
    order, turn = rng.permutation(300), random_map(8, math.inf, rng)
    sides = {"en": (range(300), english), "es": (order, (english @ turn)[order])}
    for code, (numbers, vectors) in sides.items():
        rows = zip(numbers, vectors, strict=True)
        lines = [f"{code}{i} " + " ".join(f"{v:.5f}" for v in row) for i, row in rows]
        (folder / f"wiki.{code}.vec").write_text("300 8\n" + "\n".join(lines) + "\n")
    (folder / "dictionaries").mkdir()
    for a, b in (("en", "es"), ("es", "en")):
        for part, rows in (("0-5000", range(40)), ("5000-6500", range(40, 80))):
            text = "".join(f"{a}{i} {b}{i}\n" for i in rows)
            (folder / "dictionaries" / f"{a}-{b}.{part}.txt").write_text(text)
    return folder, order


def test_muse_layout(muse):
    folder, order = muse
    tasks = find_tasks(Context(folder, muse=folder))
    assert [task.name for task in tasks] == ["en-es", "es-en"]
    place = np.argsort(order)
    pair = tasks[0].load()
    assert pair.train == [(i, place[i]) for i in range(40)]
    assert pair.gold.targets[50] == {place[50]}


def test_muse_files_through_the_table(muse, tmp_path):
    """Both directions of the fast systems, from files to figure."""
    pytest.importorskip("matplotlib")
    context = Context(tmp_path, muse=muse[0], quick=True, only=(", Procrustes,", ", Gromov–", ", l_∞-InvarOT,"))
    reproduce(find("words"), context, tell=lambda line: None)
    with (tmp_path / "summary.csv").open() as stream:
        rows = {(row["pair"], row["system"]): float(row["csls"]) for row in csv.DictReader(stream)}
    systems = ("Procrustes", "Gromov–Wasserstein", "l_∞-InvarOT")
    assert rows == {(pair, system): 100 for pair in ("en-es", "es-en") for system in systems}
