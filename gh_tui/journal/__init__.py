"""The recording on disk: one writer, any number of readers."""
