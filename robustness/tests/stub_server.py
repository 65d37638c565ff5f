"""A small HTTP server whose faults are planted."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter, bytes], Awaitable[None]]


def answer(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Some", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def right(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    """The exact product, computed the plain way."""
    request = json.loads(body)
    one, two = (
        [[int(v) for v in row["value"].split(",")] for row in request[name]["rows"]]
        for name in ("matrixOne", "matrixTwo")
    )
    rows = [
        [sum(a * b for a, b in zip(r, c, strict=True)) for c in zip(*two, strict=True)] for r in one
    ]
    product = {"requestId": str(request["requestId"]), "rows": rows}
    writer.write(answer(200, json.dumps(product, separators=(",", ":")).encode()))


async def wrong(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(answer(200, b'{"requestId":"1","rows":[[0]]}'))


async def refused_without_a_time(
    _: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
) -> None:
    writer.write(answer(503, b'{"errorCode":"008"}'))


async def refused(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(answer(503, b'{"errorCode":"008"}', "Retry-After: 1"))


async def not_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(b"HTTP/1.1 abc\r\nContent-Length: 0\r\n\r\n")


async def no_length(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n")


async def cut_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(answer(200, b'{"requestId":"1"}')[:-5])
    writer.close()


async def closed(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.close()


async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    await asyncio.sleep(60)


@contextmanager
def serving(behaviour: Behaviour, *, reads_bodies: bool = True) -> Iterator[tuple[str, int]]:
    """The address of a server that treats every request so, in a thread of its own.

    One that reads no bodies answers on the head alone and closes, as a server that refuses does.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split()[0])
                body = await reader.readexactly(length) if reads_bodies else b""
                await behaviour(reader, writer, body)
                if not reads_bodies:
                    await writer.drain()
                    writer.close()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        server.close()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
