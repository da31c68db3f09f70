"""One folder per world. Import the folder you need; `ghost.runtime` finds them by name."""
