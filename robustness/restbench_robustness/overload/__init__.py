"""Checks the promises of running services under overload, bad clients and dying processes."""
