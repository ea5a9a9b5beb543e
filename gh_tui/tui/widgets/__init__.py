"""The panes and the lines they are made of."""
