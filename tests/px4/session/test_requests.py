"""Commands and their answers."""

from __future__ import annotations

import math

import pytest

from ghost.px4.requests import result_name
from tests.px4.fake_px4 import Flight


def test_an_accepted_command_is_done_at_once(connected: Flight) -> None:
    request = connected.session.request(400, 1.0, 0.0)
    assert not request.done
    assert request.text == ""
    assert connected.until(lambda: request.done, 0.1)
    assert request.accepted
    assert request.text == ""
    [command] = connected.px4.commands(400)
    assert (command.param1, command.param2, command.param7) == (1.0, 0.0, 0.0)
    assert (command.target_system, command.target_component) == (1, 1)


def test_a_refusal_has_the_text_that_came_with_it(connected: Flight) -> None:
    connected.px4.results[400] = 1
    connected.px4.after_command[400] = lambda: connected.px4.text("Arming denied: too sunny\t")
    request = connected.session.request(400, 1.0)
    assert connected.until(lambda: request.done, 0.5)
    assert not request.accepted
    assert request.result == 1
    assert request.text == "Arming denied: too sunny"


def test_a_refusal_without_words_has_the_result(connected: Flight) -> None:
    connected.px4.results[22] = 3
    request = connected.session.request(22)
    assert connected.until(lambda: request.done, 0.5)
    assert request.text == "PX4 says unsupported"


def test_remarks_are_no_reasons(connected: Flight) -> None:
    connected.px4.results[400] = 1
    connected.px4.after_command[400] = lambda: connected.px4.text("nice day", severity=6)
    request = connected.session.request(400, 1.0)
    assert connected.until(lambda: request.done, 0.5)
    assert request.text == "PX4 says temporarily rejected"


def test_in_progress_is_no_answer(connected: Flight) -> None:
    connected.px4.results[400] = 5
    request = connected.session.request(400, 1.0)
    connected.run(0.1)
    assert not request.done
    connected.px4.ack(400, 0)
    connected.step()
    assert request.accepted


def test_a_lost_command_is_sent_again(connected: Flight) -> None:
    connected.px4.results[400] = None
    request = connected.session.request(400, 1.0)
    connected.run(1.2)
    confirmations = [command.confirmation for command in connected.px4.commands(400)]
    assert confirmations == [0, 1, 2]
    connected.px4.results[400] = 0
    assert connected.until(lambda: request.accepted, 1.0)


def test_px4_that_never_answers_ends_it(connected: Flight) -> None:
    connected.px4.results[400] = None
    request = connected.session.request(400, 1.0)
    assert connected.until(lambda: request.done, 10.0)
    assert request.result is None
    assert not request.accepted
    assert "did not answer command 400" in request.text
    assert "10 times" in request.text


def test_a_request_before_px4_is_there_waits_for_it(flight: Flight) -> None:
    request = flight.session.request(400, 1.0)
    flight.quiet = True
    flight.run(1.0)
    assert not request.done
    assert request.sent_ns == -1
    flight.connect()
    assert flight.until(lambda: request.done, 1.0)
    assert request.accepted


def test_answers_go_to_the_oldest_request_of_a_command(connected: Flight) -> None:
    connected.px4.results[512] = None
    first = connected.session.request(512, 1.0)
    second = connected.session.request(512, 2.0)
    connected.step()
    connected.px4.ack(512, 2)
    connected.px4.ack(512, 0)
    connected.run(0.2)
    assert (first.result, second.result) == (2, 0)


def test_nan_reaches_px4_as_nan(connected: Flight) -> None:
    connected.session.request(21, 0.0, 0.0, 0.0, math.nan, math.nan, math.nan, 7.5)
    connected.step()
    connected.step()
    [command] = connected.px4.commands(21)
    assert math.isnan(command.param4)
    assert command.param7 == 7.5


def test_wrong_parameters_are_refused_here(connected: Flight) -> None:
    with pytest.raises(ValueError, match="infinite"):
        connected.session.request(400, math.inf)
    with pytest.raises(ValueError, match="seven"):
        connected.session.request(400, *range(8))


def test_results_have_names() -> None:
    assert result_name(None) == "no answer"
    assert result_name(0) == "accepted"
    assert result_name(77) == "result 77"
