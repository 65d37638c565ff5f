"""Overload, bad clients and dying processes: what the services promise, held against them live."""
