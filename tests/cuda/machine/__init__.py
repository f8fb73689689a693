"""Generated CUDA C++ compiled and run on the host: a second witness beside the simulator."""
