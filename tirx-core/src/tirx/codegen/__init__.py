"""From IR to text: the C-family printer, the source writer, the Codegen row."""
