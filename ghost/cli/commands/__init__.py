"""One module for each command, each with a `command`; loaded when the command is named."""
