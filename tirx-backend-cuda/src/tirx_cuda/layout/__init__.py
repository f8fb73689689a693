"""Layouts of CUDA: tensor memory, fragments of matrix instructions, swizzled shared memory, scale factors.

`rows` says what there is; each family is a module, imported when one of its names is asked for (`tirx.layout.<name>`).
"""
