"""Business logic: what a request means. Nothing here knows of threads or processes."""
