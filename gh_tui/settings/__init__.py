"""What the user can set, and where it comes from."""
