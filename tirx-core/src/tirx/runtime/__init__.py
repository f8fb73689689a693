"""Executables, argument binding, launch plans, devices, toolchains."""
