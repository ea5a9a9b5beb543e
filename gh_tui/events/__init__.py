"""The one vocabulary of a session, its wire format, the bus that carries it, and its fold."""
