"""What the system says of a load: sar, pidstat, /proc, /metrics."""
