"""From device functions to CUDA C++."""
