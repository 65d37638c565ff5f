"""The commands, one module per family. They print results; `cli` turns failures into exit codes."""
