"""Kernels by which `tirx conform` tries this backend, and what it knowingly lacks. Read by path, never imported."""
