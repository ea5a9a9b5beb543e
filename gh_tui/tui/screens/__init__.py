"""What can be on top: a session, a replay, and the windows over them."""
