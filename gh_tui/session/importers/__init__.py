"""Readers for the recorded sessions of other agents: `detect` opens one, `to_events` converts it.

Everything in such a file is foreign data: it is read within bounds, never run, never used as a
path, and shown only through the sanitiser.
"""
