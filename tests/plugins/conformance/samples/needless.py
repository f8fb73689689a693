"""Declares a gap that is none."""

GAPS = {"dispatch.selected: copy wave_copy": "it cannot copy"}
