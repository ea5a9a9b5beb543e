"""What the session remembers: scores, fidelity, eviction and the archive."""
