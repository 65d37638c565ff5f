"""The workload logs: rules that classify the lines of a log."""
