"""What README tells a reader to type works, and what it links to is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def commands(block: str) -> list[str]:
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def test_readme_has_commands_and_programs() -> None:
    assert sum(len(commands(block)) for block in blocks("console")) >= 10
    assert blocks("python")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: commands(block)[0])
def test_commands_of_readme(block: str, tmp_path: Path) -> None:
    """A block is typed from top to bottom, in a folder where `configs` is what it is here."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    for command in commands(block):
        program, _, rest = command.partition(" ")
        assert program == "ghost", f"README shows {command!r}; only ghost commands are tried here"
        run = subprocess.run(
            ["bash", "-c", f'"{sys.executable}" -m ghost {rest}'],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
        assert run.stdout.strip(), command


@pytest.mark.parametrize("program", blocks("python"))
def test_program_of_readme(program: str) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_scripts_of_readme_are_there() -> None:
    for script in ("demo.sh", "test.sh", ".ci/run"):
        assert (ROOT / script).stat().st_mode & 0o111, f"{script} is not executable"
    for script in re.findall(r"`python ((?:benchmarks|tools)/\w+\.py)", README):
        assert (ROOT / script).is_file(), f"README names {script}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
