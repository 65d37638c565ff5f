"""Many calls of a service: a codec, an exchange and a calling strategy, none of which knows the
others.

    job = Job(MatrixJson(), exchange, process)
    with TaskPool(8).start(inputs, job, Limits()) as calls:
        for outcome in calls:
            ...
"""

__version__ = "1"
