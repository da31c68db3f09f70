"""A PX4 that answers every n-th sample."""

from __future__ import annotations

from ghost.px4.pace import AnswerPace


def answered(pace: AnswerPace, skipped: int, gap_us: int) -> int:
    pace.skipped = skipped
    return pace.answered(gap_us)


def test_regular_gaps_make_a_pace() -> None:
    pace = AnswerPace()
    assert [answered(pace, 3, 4_000) for _ in range(4)] == [0, 0, 4, 0]
    assert pace.interval_us == 4_000


def test_irregular_gaps_do_not() -> None:
    pace = AnswerPace()
    gaps = [(3, 4_000), (3, 4_000), (2, 3_000), (3, 4_000), (3, 4_000), (0, 1_000), (3, 4_000)]
    assert [answered(pace, *gap) for gap in gaps] == [0] * 7
    assert pace.interval_us == 0


def test_a_sooner_answer_ends_it() -> None:
    pace = AnswerPace()
    for _ in range(3):
        answered(pace, 1, 2_000)
    assert pace.interval_us == 2_000
    assert answered(pace, 0, 2_000) == 0
    assert pace.interval_us == 2_000
    answered(pace, 0, 1_000)
    assert pace.interval_us == 0


def test_late_answers_teach_nothing() -> None:
    pace = AnswerPace()
    for _ in range(5):
        pace.skipped = 1
        pace.irregular(4_000)
    assert (pace.interval_us, pace.skipped) == (0, 0)
