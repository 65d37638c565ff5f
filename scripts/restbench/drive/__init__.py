"""Load generators and clients, and the requests that they send."""
