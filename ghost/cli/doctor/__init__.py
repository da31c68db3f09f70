"""The checks of `ghost doctor`."""
