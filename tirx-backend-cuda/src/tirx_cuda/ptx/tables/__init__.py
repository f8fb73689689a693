"""The tables of PTX's instructions, one for each group of families; `tirx_cuda.ptx.syntax` says how to read them."""
