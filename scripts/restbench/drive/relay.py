"""A network's delay where the kernel cannot make it (netem): connections that go through a relay,
each of whose directions comes so many milliseconds later.

    python -m restbench.drive.relay 198.18.0.3 34567 198.18.0.2 8080 20

What a side has sent comes in its order, and its end comes behind it. A connection itself is made at
once: users keep theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import select
import selectors
import sys
from asyncio import StreamReader, StreamWriter
from collections import deque

PIECE_BYTES = 1 << 16
#: As the service's own: all users of a trial come at once.
BACKLOG = 1024


def command(listen: tuple[str, int], target: tuple[str, int], delay_ms: int) -> list[str]:
    """What starts a relay; it goes on until it is ended."""
    return [sys.executable, "-m", __name__, *map(str, (*listen, *target, delay_ms))]


class _Precise(selectors.EpollSelector):
    """epoll waits in whole milliseconds, select in microseconds: a delay of 5 ms shall not be 6.
    select takes no descriptor from 1024 on, so it waits for epoll's own alone."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready, as soon as anything is or the time is over."""
        select.select([self.fileno()], [], [], timeout)
        return super().select(0)


async def _carry(source: StreamReader, target: StreamWriter, delay_s: float) -> None:
    """One direction of a connection, to its end."""
    loop = asyncio.get_running_loop()
    pieces: deque[bytes] = deque()
    with contextlib.suppress(ConnectionError):
        while piece := await source.read(PIECE_BYTES):
            pieces.append(piece)
            # The loop may call two of one moment in any order: each takes the oldest.
            loop.call_later(delay_s, lambda: target.write(pieces.popleft()))
            # Who does not read what came before is sent no more.
            await target.drain()
    await asyncio.sleep(delay_s)
    with contextlib.suppress(OSError):
        target.write_eof()


async def _serve(listen: tuple[str, int], target: tuple[str, int], delay_s: float) -> None:
    async def relay(reader: StreamReader, writer: StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError):
            there, onward = await asyncio.open_connection(*target)
            with contextlib.closing(onward):
                await asyncio.gather(
                    _carry(reader, onward, delay_s), _carry(there, writer, delay_s)
                )

    server = await asyncio.start_server(relay, *listen, backlog=BACKLOG)
    await server.serve_forever()


def main() -> None:
    """Relay as the arguments say."""
    host, port, to_host, to_port, delay_ms = sys.argv[1:]
    # A user has two descriptors here.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    loop = asyncio.SelectorEventLoop(_Precise())
    loop.run_until_complete(
        _serve((host, int(port)), (to_host, int(to_port)), int(delay_ms) / 1000)
    )


if __name__ == "__main__":
    main()
