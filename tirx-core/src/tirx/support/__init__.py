"""Leaves: spans, errors, text layout, table loading. Imports nothing of TIRx."""
