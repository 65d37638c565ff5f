"""Client library that makes many calls of a service. A codec, an exchange and a calling strategy
are chosen independently of each other.

    from restbench_client.codec import MatrixJson
    from restbench_client.exchange import ThreadExchange
    from restbench_client.model import Job, Limits
    from restbench_client.strategies import TaskPool

    exchange = ThreadExchange(url, "application/json")
    job = Job(MatrixJson(), exchange, lambda index, given, output: output.rows)
    with TaskPool(8).start(inputs, job, Limits()) as calls:
        for outcome in calls:
            print(outcome)
"""

__version__ = "1"
