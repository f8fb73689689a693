"""What core's intrinsics do, on arrays over the active threads. Rows name these functions; they load when a kernel is run."""
