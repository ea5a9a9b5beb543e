"""Recorded sessions: finding them and playing them."""
