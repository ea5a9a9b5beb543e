"""The recordings in sample_sessions: how they were made, and that they replay."""
