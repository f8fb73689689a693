"""Must not be imported."""

raise AssertionError("imported")
