"""The agent: the task, the Supervisor, the loop and its tools."""
