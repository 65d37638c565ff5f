"""The order in which things are measured, and when that ends."""
