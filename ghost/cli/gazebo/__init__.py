"""The parts of `ghost gz`."""
