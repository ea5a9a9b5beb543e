"""What the agent can do besides answering."""
