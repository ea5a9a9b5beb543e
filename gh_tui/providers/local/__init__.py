"""A small language model on this machine, in a process of its own."""
