"""The commands, one file a family: they print; `cli` turns their failures into exit codes."""
