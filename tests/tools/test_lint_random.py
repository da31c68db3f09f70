from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import random", ["1: random"]),
        ("import random as r\nr.random()", ["1: random", "2: random"]),
        ("from random import gauss", ["1: random"]),
        ("from random import *", ["1: random"]),
        ("__import__('random').random()", ["1: random"]),
        ("import numpy as np\nnp.random.normal()", ["2: np.random"]),
        ("import numpy as np\nnp.random.default_rng(1)", ["2: np.random"]),
        ("import numpy as np\nnp.random.Generator(np.random.Philox(1))", ["2: np.random"] * 2),
        ("import numpy\nnumpy.random.seed(1)", ["2: np.random"]),
        ("import numpy.random", ["1: np.random"]),
        ("import numpy.random as nr\nnr.rand()", ["1: np.random", "2: np.random"]),
        ("from numpy import random", ["1: np.random"]),
        ("from numpy import random as r\nr.rand()", ["1: np.random", "2: np.random"]),
        ("from numpy.random import default_rng", ["1: np.random"]),
        ("from numpy.random import Generator\nGenerator(x)", ["2: np.random"]),
        ("import numpy as np\nr = np.random\nr.rand()", ["2: np.random", "3: np.random"]),
        ("import numpy as np\ngetattr(np, 'random').rand()", ["2: np.random"]),
        ("import uuid\nuuid.uuid4()", ["2: entropy"]),
        ("import secrets", ["1: entropy"]),
        ("import os\nos.urandom(8)", ["2: entropy"]),
        ("rng.child(f'/run_{n}')", ["1: child"]),
        ("rng.child('/run_' + n)", ["1: child"]),
        ("rng.child('/run_%d' % n)", ["1: child"]),
        ("rng.child('/run_{}'.format(n))", ["1: child"]),
        ("rng.child(str(n))", ["1: child"]),
        ("rng.child(name)", ["1: child"]),
        ("clock.random_source().child(label=f'{n}')", ["1: child"]),
        ("rng.child('a').child(f'{n}').child('b')", ["1: child"]),
    ],
)
def test_bad_samples(lint: Run, source: str, found: list[str]) -> None:
    # One finding a place and message: the same call twice on a line would count once.
    assert lint("lint_random", source) == found


def test_a_good_sample_passes(lint: Run) -> None:
    source = """
    import os
    import numpy as np
    from numpy.random import Generator
    from ghost.core import RandomSource, RandomStream

    LABEL = "noise"

    def draw(rng: RandomSource, random: int) -> np.random.Generator:
        rng.child("/sensors/imu0/noise").normal(0.0, 1.0)
        rng.child(LABEL).uniform(0.0, random)
        tree.child()
        os.getcwd()
        return rng.numpy_rng()
    """
    assert lint("lint_random", source) == []


def test_the_project_is_clean_from_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "tools/lint_random.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
