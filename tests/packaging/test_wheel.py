"""The built wheel, alone in an empty environment, flies and judges itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    # Nothing of this checkout may help: no path, and another working folder.
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def ghost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, cwd=folder, timeout=180)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        wheel,
        cwd=folder,
        timeout=240,
    )
    return folder / "env" / "bin" / "ghost"


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_wheel_flies_and_conforms(ghost: Path, tmp_path: Path) -> None:
    flown = json.loads(run(ghost, "run", "hover", "--json", cwd=tmp_path, timeout=60).stdout)
    assert flown["backend"] == "embedded"
    assert flown["steps"] > 0
    report = run(ghost, "conformance", "--backend", "embedded", cwd=tmp_path, timeout=200)
    assert "passed" in report.stdout
    assert not list(tmp_path.iterdir()), "a run leaves no files behind"
