"""Passes of this target, one a file; `tirx_trn.pipeline` holds their order."""
