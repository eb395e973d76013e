"""How epsilon falls."""

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.transport.schedule import Schedule


def test_values_fall_to_the_floor():
    values = Schedule(1.0, 0.95, 0.01).values()
    assert values[0] == 1.0
    assert values[-1] == 0.01
    np.testing.assert_allclose(np.divide(values[1:-1], values[:-2]), 0.95)
    assert Schedule.fixed(0.3).values() == [0.3]
    assert Schedule.fixed(0.3, absolute=True).absolute


def test_after():
    plain = Schedule(1.0, 0.5, 0.1)
    assert plain.after(1.0, moved=0.0) == 0.5
    assert plain.after(0.15, moved=0.0) == 0.1
    adaptive = Schedule(1.0, 0.5, 1e-3, adaptive=True)
    assert adaptive.after(1.0, moved=1.0) == 0.5
    assert adaptive.after(1.0, moved=0.025) == 0.25
    assert adaptive.after(1.0, moved=0.0) == pytest.approx(0.5**8)


@pytest.mark.parametrize(
    ("options", "name"),
    [({"epsilon": 0}, "epsilon"), ({"epsilon": -1}, "epsilon"), ({"epsilon": float("nan")}, "epsilon"),
     ({"epsilon": float("inf")}, "epsilon"), ({"epsilon": "1"}, "epsilon"), ({"floor": 0}, "floor"),
     ({"decay": 0}, "decay"), ({"decay": 1}, "decay"), ({"decay": 1.5}, "decay"), ({"decay": None}, "decay"),
     ({"epsilon": 0.1, "floor": 0.2}, "floor")],
)  # fmt: skip
def test_bad_values(options, name):
    with pytest.raises(InputError, match=name):
        Schedule(**options)


def test_numpy_numbers_are_numbers():
    assert Schedule(np.float32(0.5), np.float64(0.9), np.float32(0.1)).values()[0] == 0.5
