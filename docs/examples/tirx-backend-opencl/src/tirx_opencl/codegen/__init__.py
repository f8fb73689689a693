"""From device functions to OpenCL C."""
