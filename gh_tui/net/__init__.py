"""Talking HTTP: the client, server-sent events, and when to try again."""
