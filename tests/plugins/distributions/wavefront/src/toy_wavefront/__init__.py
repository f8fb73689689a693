"""A machine with threads in waves of 64."""
