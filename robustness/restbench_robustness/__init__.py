"""Tools that try to make the services and the harness fail, and report whether they succeeded."""
