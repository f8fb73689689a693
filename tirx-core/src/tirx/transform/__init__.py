"""One pass a file; `pipeline.py` holds Pass, Pipeline, PassContext."""
