"""What instructions of PTX do in the simulator, a module for each group of families; loaded when one of them runs."""
