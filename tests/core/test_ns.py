from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost.core import as_ns


@given(st.integers())
def test_any_integer_passes_unchanged(value: int) -> None:
    assert as_ns("t", value) == value


@pytest.mark.parametrize("value", [np.int64(7), np.uint8(7), np.int16(7)])
def test_numpy_integers_become_plain_int(value: object) -> None:
    assert type(as_ns("t", value)) is int
    assert as_ns("t", value) == 7


@pytest.mark.parametrize(
    "value", [1.0, np.float64(1.0), True, False, np.bool_(True), "1", None, 1j, [1]]
)
def test_everything_else_is_a_type_error_naming_the_argument(value: object) -> None:
    with pytest.raises(TypeError, match="period_ns must be an integer"):
        as_ns("period_ns", value)


def test_minimum() -> None:
    assert as_ns("t", 1, minimum=1) == 1
    with pytest.raises(ValueError, match="period_ns must be at least 1 ns, got 0"):
        as_ns("period_ns", 0, minimum=1)
