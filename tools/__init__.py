"""Programs for people who work on TIRx itself."""
