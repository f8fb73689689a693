"""Passes of OpenCL kernels."""
