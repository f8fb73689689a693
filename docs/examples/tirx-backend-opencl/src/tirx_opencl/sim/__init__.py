"""What the intrinsics of OpenCL mean; imported by a simulation."""
