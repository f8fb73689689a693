"""Faster waves."""
