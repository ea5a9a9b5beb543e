"""Texts to vectors, and cosines to similarities that mean the same for every embedder."""
