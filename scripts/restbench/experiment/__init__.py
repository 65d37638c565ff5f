"""TOML files to factors, cells, plans and claims."""
