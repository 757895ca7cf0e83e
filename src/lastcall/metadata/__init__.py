"""The instance metadata endpoint: what a machine reads about itself and about what awaits it."""
