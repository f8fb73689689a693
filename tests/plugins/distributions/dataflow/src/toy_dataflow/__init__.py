"""A machine without threads."""
