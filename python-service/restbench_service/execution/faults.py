"""What can go wrong between a request and the process that was to do it."""

import traceback


class AbandonedError(Exception):
    """The client went away while its request waited for its turn, which it then did not get."""


class WorkerDiedError(Exception):
    """A process of the pool ended while the request was there. The pool is being made anew."""


class PoolFailedError(Exception):
    """A pool's processes cannot be started, or it is closed; the text says which and why."""


def places(error: BaseException) -> str:
    """The lines of code an error came through, one a line.

    Also those in another process, which a standard pool sends as the text of a cause. Of that text
    only the places are taken: in the rest there may be values of a request.
    """
    ours = traceback.extract_tb(error.__traceback__)
    lines = [f"\n  {place.filename}:{place.lineno} in {place.name}" for place in ours]
    if type(error).__name__ in ("RemoteTraceback", "_RemoteTraceback"):
        text = str(error).splitlines()
        lines += [f"\n{line}" for line in text if line.startswith('  File "')]
    return "".join(lines)
