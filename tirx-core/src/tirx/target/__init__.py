"""Targets: kinds, tags, scope models, capabilities."""
