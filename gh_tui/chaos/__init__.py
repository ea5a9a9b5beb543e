"""Sessions under random faults, and the proof that no supplement is lost: `gh-tui chaos`."""
