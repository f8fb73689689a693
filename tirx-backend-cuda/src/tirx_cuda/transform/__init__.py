"""Passes of CUDA kernels beyond core's."""
