"""The screen: the only part that knows Textual."""
