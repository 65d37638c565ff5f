"""A delay of the network where the kernel cannot make one (netem): a relay forwards connections,
and delays what each direction carries by so many milliseconds.

    python -m restbench.drive.relay 198.18.0.3 34567 198.18.0.2 8080 20

The bytes of a direction stay in order, and its end is delayed as they are. A connection itself is
made without a delay: users keep their connections.
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
#: The same as the service's: all users of a trial connect at once.
BACKLOG = 1024


def command(listen: tuple[str, int], target: tuple[str, int], delay_ms: int) -> list[str]:
    """The command line of a relay, which runs until it is stopped."""
    return [sys.executable, "-m", __name__, *map(str, (*listen, *target, delay_ms))]


class _Precise(selectors.EpollSelector):
    """A selector that waits in microseconds. epoll waits in whole milliseconds: 6 for a delay of 5.
    select takes no descriptor from 1024 on, so it waits for epoll's own only."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready, as soon as anything is or the timeout has passed."""
        select.select([self.fileno()], [], [], timeout)
        return super().select(0)


async def _carry(source: StreamReader, target: StreamWriter, delay_s: float) -> None:
    """Forward one direction of a connection until its end."""
    loop = asyncio.get_running_loop()
    pieces: deque[bytes] = deque()
    with contextlib.suppress(ConnectionError):
        while piece := await source.read(PIECE_BYTES):
            pieces.append(piece)
            # The loop may run two callbacks of one moment in any order: each takes the oldest.
            loop.call_later(delay_s, lambda: target.write(pieces.popleft()))
            # A peer that does not read is sent no more.
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
    # A user's connection takes two descriptors here.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    loop = asyncio.SelectorEventLoop(_Precise())
    loop.run_until_complete(
        _serve((host, int(port)), (to_host, int(to_port)), int(delay_ms) / 1000)
    )


if __name__ == "__main__":
    main()
