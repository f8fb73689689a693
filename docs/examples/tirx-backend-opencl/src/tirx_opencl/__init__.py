"""An OpenCL backend of TIRx."""
