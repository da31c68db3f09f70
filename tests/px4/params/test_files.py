"""Files of parameters: two forms of line, errors with their place, and the shipped sets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import ConfigError, UnknownName
from ghost.px4.params import ParamSet, find_params, list_params, load_params, parse_params

_SETS = ("hardware_bench", "hitl", "sitl_gz_bridge", "sitl_lockstep")
_RANGES: dict[str, tuple[float, float]] = {
    # commander_params.c, circuit_breaker_params.c and module.yaml of PX4 v1.17
    "COM_OF_LOSS_T": (0.0, 60.0),
    "COM_DL_LOSS_T": (5, 300),
    "COM_RC_LOSS_T": (0.0, 35.0),
    "NAV_DLL_ACT": (0, 6),
    "NAV_RCL_ACT": (1, 6),
    "COM_RCL_EXCEPT": (0, 31),
    "COM_RC_IN_MODE": (0, 8),
    "COM_OBL_RC_ACT": (0, 7),
    "COM_RC_OVERRIDE": (0, 3),
    "COM_ARM_SDCARD": (0, 2),
    "SDLOG_MODE": (0, 4),
    "SYS_HITL": (-1, 2),
}


def test_both_forms_of_line() -> None:
    text = """
# a comment
1\t1\tCOM_DL_LOSS_T\t10\t6
1 1 COM_OF_LOSS_T 1 9   # QGroundControl writes whole floats so
NAV_DLL_ACT 0
COM_RC_LOSS_T 0.5
MC_X -1e-3
MC_Y -7
"""
    values = parse_params(text, "f.params")
    assert values == {
        "COM_DL_LOSS_T": 10,
        "COM_OF_LOSS_T": 1.0,
        "NAV_DLL_ACT": 0,
        "COM_RC_LOSS_T": 0.5,
        "MC_X": -0.001,
        "MC_Y": -7,
    }
    assert [type(value) for value in values.values()] == [int, float, int, float, float, int]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("COM_DL_LOSS_T", "NAME VALUE"),
        ("COM_DL_LOSS_T 1 2", "3 words"),
        ("com_dl_loss_t 1", "name"),
        ("A_NAME_THAT_IS_TOO_LONG 1", "16"),
        ("COM_DL_LOSS_T ten", "a number"),
        ("COM_DL_LOSS_T nan", "finite"),
        ("COM_DL_LOSS_T inf", "finite"),
        ("COM_DL_LOSS_T 99999999999", "32 bits"),
        ("1 1 COM_DL_LOSS_T 1.5 6", "INT32"),
        ("1 1 COM_DL_LOSS_T 1 5", "type"),
        ("GIVEN 1", "twice, first in line 1"),
    ],
)
def test_errors_name_file_and_line(line: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what) as caught:
        parse_params(f"GIVEN 1\n\n{line}\n", "some/file.params")
    assert str(caught.value).startswith("some/file.params:3: ")


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        values = parse_params(text, "f")
    except ConfigError:
        return
    for name, value in values.items():
        assert name.isascii()
        assert abs(value) < float("inf")


def test_the_shipped_sets_are_there_and_within_px4s_ranges() -> None:
    assert list_params() == _SETS
    for name in _SETS:
        params = load_params(name)
        assert params.name == name
        for key in ("COM_OF_LOSS_T", "COM_DL_LOSS_T", "COM_RC_LOSS_T", "COM_DISARM_PRFLT"):
            assert key in params.values, (name, key)
        for key, value in params.values.items():
            low, high = _RANGES.get(key, (-1e9, 1e9))
            assert low <= value <= high, (name, key, value)
            assert isinstance(value, float) == isinstance(low, float) or key not in _RANGES


def test_every_shipped_parameter_has_a_comment() -> None:
    for name in _SETS:
        blocks = find_params(name).read_text("utf-8").split("\n\n")
        for block in blocks:
            lines = block.splitlines()
            assert lines[0].startswith("#"), (name, lines[0])


def test_unknown_names_and_files(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="sitl_lockstep"):
        load_params("sitl_lockstp")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_params("missing.params", tmp_path)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_params(str(tmp_path) + "/")
    (tmp_path / "mine.params").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"mine\.params"):
        load_params("mine.params", tmp_path)
    (tmp_path / "mine.params").write_text("MY_VALUE 2\n", encoding="utf-8")
    assert load_params("mine.params", tmp_path).values == {"MY_VALUE": 2}
    (tmp_path / "big.params").write_bytes(b"#" * (1 << 21))
    with pytest.raises(ConfigError, match="larger"):
        load_params("big.params", tmp_path)


def test_the_form_that_px4s_start_takes() -> None:
    params = ParamSet("x", {"A_INT": 3, "A_FLOAT": 0.5})
    assert params.texts() == {"A_INT": "3", "A_FLOAT": "0.5"}
    assert params.environment() == {"PX4_PARAM_A_INT": "3", "PX4_PARAM_A_FLOAT": "0.5"}
    assert params.with_values({"A_INT": 4}).values == {"A_INT": 4, "A_FLOAT": 0.5}
    assert params.values["A_INT"] == 3
