"""Tools that try to make the services and the harness fail, and say whether they did."""
