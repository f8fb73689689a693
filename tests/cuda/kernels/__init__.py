"""Kernels whose CUDA C++ is kept in ../golden, a construct each; the file of a kernel is named after it."""
