"""An extension of the CUDA backend."""
