"""Language parts built on the intrinsics: pools of memory."""
