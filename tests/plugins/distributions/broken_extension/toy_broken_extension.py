"""An extension that raises while it is imported."""

raise RuntimeError("the extension broke")
