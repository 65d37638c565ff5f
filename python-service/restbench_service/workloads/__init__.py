"""Business logic: what each request computes, independent of the strategy that executes it."""
