"""What CUDA's intrinsics do in the simulator; loaded when a kernel that uses them is simulated."""
