"""restbench: measures parallel execution techniques of web services and says what holds."""

__version__ = "0.1.0"
