"""The command line. Importing it loads click alone; each command loads what it needs later."""

from ghost.cli.main import cli, main

__all__ = ["cli", "main"]
