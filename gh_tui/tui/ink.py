"""Inks that are used inside of running text."""

DIM = "$foreground 72%"
"""What is beside the point; still at least 4.5 to 1 on every ground of the house's themes."""
HEAD = "bold $primary"
"""Headings of Markdown."""
CODE = "$accent"
"""Code of Markdown."""
