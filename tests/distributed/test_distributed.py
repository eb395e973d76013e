"""One solve over several processes: the answer of one, few bytes, a clear end where a rank is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from .ranks import ROOT, run_ranks

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs torch: pip install 'invarot[torch]'")


@pytest.fixture(scope="module")
def found():
    return run_ranks(4, "one_two_four")[0]


@pytest.mark.parametrize("case", ["auto", "sampled", "given", "moved", "p2"])
def test_the_answer_does_not_depend_on_the_number_of_ranks(found, case):
    one, rows = found[0][case, 1], 900 if case == "sampled" else 300
    for count in (2, 4):
        for rank in range(count):
            other = found[rank][case, count]
            np.testing.assert_allclose(other["map"], one["map"], atol=1e-8)
            np.testing.assert_allclose(other["offset"], one["offset"], atol=1e-8)
            np.testing.assert_array_equal(other["matches"], one["matches"])
            assert (other["verdict"], other["steps"], other["rows"]) == (one["verdict"], one["steps"], rows)
            assert other["objective"] == pytest.approx(one["objective"], abs=1e-10)


def test_it_is_the_answer_of_one_process(found):
    """invarot.align on all rows from the same start."""
    import invarot

    from .tasks import clouds

    x, y, turn = clouds()
    plain = invarot.align(x, y, start=np.linalg.qr(turn + 0.1)[0])
    np.testing.assert_allclose(found[3]["given", 4]["map"], plain.map, atol=1e-8)
    np.testing.assert_array_equal(found[3]["given", 4]["matches"], plain.matches("plan"))
    assert found[0]["auto", 2]["verdict"] == invarot.align(x, y).verdict.word


def test_every_rank_keeps_its_own_rows(found):
    assert sum(found[rank]["auto", 4]["own"] for rank in range(4)) == 300
    assert found[0]["auto", 4]["own"] < 100


def test_rows_of_a_stage_stay_where_they_are_or_go_to_all():
    ranks = run_ranks(2, "stages")[0]
    for few in (10_000, 100):
        np.testing.assert_array_equal(ranks[0][few]["map"], ranks[1][few]["map"])
    np.testing.assert_allclose(ranks[0][100]["map"], ranks[0][10_000]["map"], atol=1e-8)


def test_ranks_share_the_race_and_the_evidence():
    """Each rank solves a part of the starts and tests a part of the points; all see the same steps and come to the same evidence."""
    first, second = run_ranks(2, "shared_work")[0]
    (alone, seen, map_, evidence), (left, *others), (right, *_) = first[1], first[2], second[2]
    for name in ("alternate", "_known_directions"):
        assert left[name] + right[name] == alone[name]
        assert abs(left[name] - right[name]) <= 0.2 * alone[name]
    for here in (others, second[2][1:]):
        assert here[0] == seen
        np.testing.assert_allclose(here[1], map_, atol=1e-8)
        assert here[2].split == evidence.split
        assert here[2].twins == pytest.approx(evidence.twins, abs=1e-8)


def test_few_bytes_are_sent_per_step():
    seen = run_ranks(2, "bytes_per_step")[0][0]
    assert len(seen) > 3
    for (_, before, *_), (sweeps, sent, m, d) in pairwise(seen):
        assert 8 * (m * sweeps + d * d) <= sent - before <= 8 * (m * sweeps + d * d) + 1024


def test_targets_may_be_cut_too():
    """In blocks that pass through all ranks: the answer is that of targets that every rank has."""
    ranks = run_ranks(4, "cut_targets")[0]
    for case in ("auto", "given", "moved", "stages"):
        whole = ranks[0][case, 2, "all"]
        for count in (2, 4):
            for rank in range(count):
                cut = ranks[rank][case, count, "cut"]
                np.testing.assert_allclose(cut["map"], whole["map"], atol=1e-8)
                np.testing.assert_array_equal(cut["matches"], whole["matches"])
                assert (cut["verdict"], cut["steps"], cut["rows"]) == (whole["verdict"], whole["steps"], 300)


def test_bytes_of_cut_targets():
    """Blocks pass twice in a sweep and once for the images; sums over rows are a maximum and a sum of m numbers."""
    seen = run_ranks(2, "bytes_of_cut_targets")[0][0]
    assert len(seen) > 3
    for (_, sums, passed, *_), (sweeps, more_sums, more_passed, m, d) in pairwise(seen):
        assert more_passed - passed - 8 * m * d * (2 * sweeps + 1) in (0, 8 * m)  # a stage begins with the weights
        assert 0 <= more_sums - sums - 8 * (2 * m * sweeps + d * d) <= 1024


def test_points_may_be_dtensors():
    for maps, rows, matches, told in run_ranks(2, "dtensors")[0]:
        for k in (1, 2):
            np.testing.assert_allclose(maps[k], maps[0], atol=1e-8)
            np.testing.assert_array_equal(matches[k], matches[0])
        assert rows == [150, 150]
        assert [message.split(",")[0] for message in told] == [
            "x: expected a DTensor whose rows are cut over the ranks",
            "x: expected a DTensor of whole rows",
            "cut_y: expected False with a DTensor that every rank has all of",
            "group: expected a torch.distributed.ProcessGroup or a DeviceMesh of one dimension",
            "seeds: expected to be left out where rows are cut over ranks",
        ]


def test_a_lost_rank_ends_the_others_with_a_clear_error():
    ranks, codes = run_ranks(3, "one_is_killed", lost=(1,))
    assert codes[1] == 9
    for rank in (0, 2):
        message, seconds = ranks[rank]
        assert message.startswith(f"group: expected an answer of every rank, got none on rank {rank} (")
        assert seconds < 60


def test_what_is_wrong_on_one_rank_is_raised_on_all():
    left, right = run_ranks(2, "refusals")[0]
    assert left[:4] == right[:4]
    assert [message.split(":")[0] for message in left] == ["x", "x, y, rng", "x, y, rng", "refit", "seeds"]
    assert left[0].endswith("(rank 1)")


def test_files_under_torchrun(tmp_path):
    """Two ranks started by torchrun read their own rows, of two files, and write their own parts; the map is that of all rows."""
    import invarot

    from .tasks import clouds

    x, y, turn = clouds()
    for number, part in enumerate(np.split(x.astype(np.float32), [100])):
        np.save(tmp_path / f"x-{number}.npy", part)
    np.save(tmp_path / "y.npy", y.astype(np.float32))
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone", "-m", "invarot", "align",
               "x-*.npy", "y.npy", "-o", "out", "--unordered", "--json"]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"]["word"] == "aligned"
    parts = [invarot.load(tmp_path / "out" / f"rank-{rank}-of-2") for rank in range(2)]
    np.testing.assert_array_equal(parts[0].map, parts[1].map)
    np.testing.assert_allclose(parts[0].map, turn, atol=0.02)
    assert [len(part.plan.u) for part in parts] == [150, 150]


@pytest.mark.parametrize("cut", [(), ("cut",)])
def test_a_checkpoint_resumes_with_another_number_of_ranks(tmp_path, cut):
    """Also where y is cut after, and was not before."""
    path = str(tmp_path / "state")
    stopped = run_ranks(3, "interrupted", path, "3")[0]
    assert [left for _, _, left in stopped] == [True] * 3
    resumed = run_ranks(2, "interrupted", path, "2", *cut)[0]
    whole = run_ranks(1, "interrupted", path + "-none", "1")[0][0]
    for map_, seen, left in resumed:
        np.testing.assert_allclose(map_, whole[0], atol=1e-3)  # to the tolerance of a solve
        assert seen[0] == stopped[0][1][-1] < whole[1][0]
        assert not left
