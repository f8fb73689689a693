"""The language: Python text to IR and back."""
