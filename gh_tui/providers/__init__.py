"""Model servers behind one protocol."""
