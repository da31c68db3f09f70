"""Reading back: what PX4 has otherwise, does not have, or does not tell."""

from __future__ import annotations

from ghost.px4.params import ParamValueType, load_params
from ghost.px4.readback import ParamDifference, ParamReadback
from tests.px4.fake_px4 import Flight


def test_all_as_they_were_set(connected: Flight) -> None:
    wanted = dict(load_params("sitl_lockstep").values)
    wanted["MC_TENTH"] = 0.1  # not a number of 32 bits
    connected.px4.params.update(wanted)
    readback = ParamReadback(connected.session, wanted)
    assert connected.until(lambda: readback.done, 3.0)
    assert readback.report.clean
    assert readback.report.ok == tuple(wanted)
    assert readback.report.lines() == ()


def test_what_is_otherwise_is_said(connected: Flight) -> None:
    wanted: dict[str, ParamValueType] = {
        "AN_INT": -5,
        "A_FLOAT": 1.5,
        "NOT_THERE": 1,
        "SILENT": 2,
        "OTHER_TYPE": 3,
        "BIG": 2**31 - 1,
        "TOO_LARGE": 1e300,
    }
    connected.px4.params.update(
        {"AN_INT": -6, "A_FLOAT": 1.5, "OTHER_TYPE": 3.5, "BIG": 2**31 - 1, "TOO_LARGE": 0.0}
    )
    connected.px4.mute_params.add("SILENT")
    readback = ParamReadback(connected.session, wanted)
    assert connected.until(lambda: readback.done, 10.0)
    report = readback.report
    assert report.ok == ("A_FLOAT", "BIG")
    assert report.differing == (
        ParamDifference("AN_INT", -5, -6),
        ParamDifference("OTHER_TYPE", 3, 3.5),
        ParamDifference("TOO_LARGE", 1e300, 0.0),
    )
    assert report.missing == ("NOT_THERE",)
    assert report.unanswered == ("SILENT",)
    assert not report.clean
    assert report.lines()[0] == "AN_INT is -6, not -5"
    assert "NOT_THERE does not exist in this PX4" in report.lines()
    assert report.to_json()["missing"] == ["NOT_THERE"]
    questions = [m for m in connected.px4.all("PARAM_REQUEST_READ") if m.param_id == "SILENT"]
    assert len(questions) == 4


def test_a_lost_answer_is_asked_for_again(connected: Flight) -> None:
    connected.px4.params["AN_INT"] = 4
    connected.px4.mute_params.add("AN_INT")
    readback = ParamReadback(connected.session, {"AN_INT": 4})
    connected.run(0.3)
    connected.px4.mute_params.clear()
    assert not readback.done
    assert connected.until(lambda: readback.done, 1.0)
    assert readback.report.clean


def test_only_a_few_are_asked_at_once(connected: Flight) -> None:
    names = {f"P_{i}": i for i in range(50)}
    connected.px4.params.update(names)
    readback = ParamReadback(connected.session, names)
    connected.step()
    assert len(connected.px4.all("PARAM_REQUEST_READ")) <= 8
    assert connected.until(lambda: readback.done, 3.0)
    assert len(readback.report.ok) == 50


def test_it_waits_for_px4(flight: Flight) -> None:
    readback = ParamReadback(flight.session, {"AN_INT": 4})
    flight.px4.params["AN_INT"] = 4
    flight.quiet = True
    flight.run(1.0)
    assert not readback.done
    flight.connect()
    assert flight.until(lambda: readback.done, 1.0)
    assert readback.report.clean


def test_nothing_to_read_is_done_at_once(connected: Flight) -> None:
    readback = ParamReadback(connected.session, {})
    connected.step()
    assert readback.done
    assert readback.report.clean


def test_a_px4_that_answers_nothing_is_asked_longer(connected: Flight) -> None:
    connected.px4.mute_params.update(("P_1", "P_2"))
    readback = ParamReadback(connected.session, {"P_1": 1, "P_2": 2})
    assert connected.until(lambda: readback.done, 10.0)
    assert readback.report.unanswered == ("P_1", "P_2")
    assert len(connected.px4.all("PARAM_REQUEST_READ")) == 20
