"""A terminal app for long agent sessions with a visible memory."""

__version__ = "0.1.0"
