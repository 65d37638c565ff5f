"""The HTTP side of gunicorn: how connections are taken, waited for, refused and closed.

It knows nothing of Flask, workloads or strategies.
"""
