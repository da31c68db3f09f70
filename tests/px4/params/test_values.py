"""Loss timeouts and the speed of the world; what a vehicle's file becomes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ghost.config import load_vehicle
from ghost.core import OutputSpec
from ghost.px4.params import ParamSet, load_params, scale_loss_timeouts, vehicle_params


def test_in_lockstep_nothing_is_scaled() -> None:
    params = load_params("sitl_lockstep")
    assert scale_loss_timeouts(params, 30.0, wall_clock_senders=False) is params


def test_senders_on_the_wall_clock_get_as_long_as_before() -> None:
    params = ParamSet("x", {"COM_OF_LOSS_T": 1.0, "COM_DL_LOSS_T": 10, "COM_DISARM_PRFLT": 9.0})
    scaled = scale_loss_timeouts(params, 4.5, wall_clock_senders=True).values
    assert scaled == {
        "COM_OF_LOSS_T": 4.5,
        "COM_DL_LOSS_T": 45,
        "COM_RC_LOSS_T": 2.25,  # PX4's default of 0.5
        "COM_DISARM_PRFLT": 9.0,
    }
    assert isinstance(scaled["COM_DL_LOSS_T"], int)


@pytest.mark.parametrize("rtf", [1000.0, math.inf])
def test_scaled_timeouts_stay_within_px4s_ranges(rtf: float) -> None:
    scaled = scale_loss_timeouts(ParamSet("x", {}), rtf, wall_clock_senders=True).values
    assert scaled == {"COM_OF_LOSS_T": 60.0, "COM_DL_LOSS_T": 300, "COM_RC_LOSS_T": 35.0}


def test_a_slow_world_shortens_nothing_and_zero_stays() -> None:
    params = ParamSet("x", {"COM_OF_LOSS_T": 0.0})
    assert scale_loss_timeouts(params, 0.2, wall_clock_senders=True) is params
    assert scale_loss_timeouts(params, 9.0, wall_clock_senders=True).values["COM_OF_LOSS_T"] == 0.0


@pytest.mark.parametrize("rtf", [0.0, -1.0, math.nan])
def test_no_speed_is_refused(rtf: float) -> None:
    with pytest.raises(ValueError, match="rtf"):
        scale_loss_timeouts(ParamSet("x", {}), rtf, wall_clock_senders=True)


def test_a_vehicles_rotors_in_px4s_axes() -> None:
    values = vehicle_params(load_vehicle("x500"))
    assert values["CA_ROTOR_COUNT"] == 4
    front_right = tuple(values[f"CA_ROTOR0_P{axis}"] for axis in "XYZ")
    assert front_right == pytest.approx((0.174, 0.174, -0.06))
    rear_left = tuple(values[f"CA_ROTOR1_P{axis}"] for axis in "XYZ")
    assert rear_left == pytest.approx((-0.174, -0.174, -0.06))
    moments = [values[f"CA_ROTOR{i}_KM"] for i in range(4)]
    assert moments == pytest.approx([0.016, 0.016, -0.016, -0.016])
    assert [values[f"PWM_MAIN_FUNC{i + 1}"] for i in range(4)] == [101, 102, 103, 104]
    assert values["PWM_MAIN_REV"] == 0
    assert values["THR_MDL_FAC"] == 0.0
    # 2.064 kg on four motors of 8.549 N each
    assert values["MPC_THR_HOVER"] == pytest.approx(2.0643 * 9.80665 / (4 * 8.54858), abs=2e-4)
    for name, value in values.items():
        assert type(value) is (float if name[-2:] in ("PX", "PY", "PZ", "KM") else type(value))
        assert len(name) <= 16


def test_outputs_say_which_channel_and_which_curve() -> None:
    outputs = tuple(
        OutputSpec(channel=7 - i, rotor=i, reversed=i == 2, curve="speed") for i in range(4)
    )
    values = vehicle_params(replace(load_vehicle("x500"), outputs=outputs))
    assert [values[f"PWM_MAIN_FUNC{8 - i}"] for i in range(4)] == [101, 102, 103, 104]
    assert values["PWM_MAIN_REV"] == 1 << 5
    assert values["THR_MDL_FAC"] == 1.0
    assert "PWM_MAIN_FUNC1" not in values
