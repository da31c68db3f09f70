"""The list of contracts is in order and points at tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs/contracts/hal.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| C-HAL-")
]


def test_numbers_are_unique_and_grow() -> None:
    numbers = [int(row[0].removeprefix("C-HAL-")) for row in ROWS]
    assert len(numbers) > 60
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_contract_is_one_sentence_with_source_and_proof(row: list[str]) -> None:
    _, text, source, proof = row
    sentence = re.sub(r"( \*(sim|det|runtime)(, det)?\*)$", "", text)
    assert sentence.endswith(".")
    assert not re.search(r"\. [A-Z]", sentence)
    assert re.fullmatch(r"((HAL|sensor|clock) §[\d.]+(, §[\d.]+)*|D\d+)(, (.+))?", source)
    for named in re.findall(r"`(tests/hal/\w+\.py)`", proof):
        assert (ROOT / named).is_file(), named
    assert proof


def test_the_seven_checks_of_the_specification_are_there() -> None:
    text = " ".join(row[3] for row in ROWS)
    assert set(re.findall(r"`(test_\w+)`", text)) == {
        "test_reset_is_deterministic",
        "test_clock_is_monotonic",
        "test_no_shared_mutation",
        "test_actuator_rejects_nan",
        "test_actuator_accepts_valid_command",
        "test_shutdown_and_recreate",
        "test_capabilities_match_observed",
    }


def test_each_test_that_cites_a_contract_cites_one_that_exists() -> None:
    known = {row[0] for row in ROWS}
    for path in Path(__file__).parent.glob("test_*.py"):
        for cited in re.findall(r"C-HAL-\d+", path.read_text(encoding="utf-8")):
            assert cited in known, (path.name, cited)
