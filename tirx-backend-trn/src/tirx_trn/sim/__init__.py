"""What the instructions do, on NumPy arrays; loaded by the simulator when it runs one."""
