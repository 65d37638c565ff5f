"""What sends load, and what is sent."""
