"""Signing in: discovery, tokens, and the door that asks for them."""
