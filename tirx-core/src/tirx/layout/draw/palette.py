"""Colours of cells: eight hues in four tones, for light and dark pages. A colour's number is its class name in pictures."""

from __future__ import annotations

__all__ = ["BAD", "COLOURS", "DARK", "FAINT", "GOOD", "INK", "LIGHT", "PAPER"]

# Rows are tones, columns hues of equal lightness (OKLCH), so that neighbours differ in hue and rounds of eight in tone.
LIGHT = (
    "#a7d6ff", "#fbc499", "#afe0af", "#ffbacf", "#d9c5ff", "#ded392", "#8ae2e7", "#ffbdb0",
    "#cfebff", "#ffe1c7", "#d4f1d4", "#ffdbe6", "#ede1ff", "#efe9c3", "#c2f3f5", "#ffdcd4",
    "#80bdfb", "#eba66d", "#8aca8b", "#f199b4", "#c2a7f4", "#c8b962", "#4eccd3", "#f69c8d",
    "#6da3da", "#cc8f5c", "#76af77", "#d2849c", "#a890d4", "#ada052", "#40b1b7", "#d58679",
)  # fmt: skip
DARK = (
    "#255079", "#6e4015", "#2c592f", "#72374b", "#544174", "#584e05", "#005a5f", "#743930",
    "#1b3753", "#4c2d12", "#203d21", "#4e2734", "#3a2e50", "#3d360b", "#003e41", "#502922",
    "#32669a", "#8c541f", "#3b723e", "#904961", "#6c5594", "#71640b", "#00747a", "#944b40",
    "#142537", "#321f0f", "#172918", "#341c23", "#271f35", "#28240c", "#052a2c", "#351c18",
)  # fmt: skip
COLOURS = len(LIGHT)

# What is written, what it is written on, and what is less important: (light page, dark page).
INK = ("#111820", "#f0f3f6")
PAPER = ("#ffffff", "#0d1117")
FAINT = ("#57606a", "#9aa4ae")
GOOD = ("#116329", "#56d364")
BAD = ("#b3261e", "#ff8a80")
