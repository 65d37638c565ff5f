"""A Unix socket in the place of an address: for a proxy on the same machine."""

import json
import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
from live_service import DEADLINE_SECONDS, JSON, SERVICE, start, wait_until
from test_killed_processes import SMALL

from restbench_service.frameworks import FRAMEWORKS
from restbench_service.process import free_socket


def answer(path: Path, method: str, target: str, body: bytes = b"") -> bytes:
    transport = httpx.HTTPTransport(uds=str(path))
    with httpx.Client(transport=transport, timeout=DEADLINE_SECONDS) as client:
        url = f"http://localhost{target}"
        return client.request(method, url, content=body, headers=JSON).content


def answers(path: Path) -> bool:
    try:
        return path.exists() and bool(answer(path, "GET", "/health"))
    except httpx.TransportError:  # of one that is killed half an answer may come
        return False


def begun(path: Path, framework: str = "flask") -> "subprocess.Popen[bytes]":
    settings = {"FRAMEWORK": framework, "STRATEGIES": "serial", "HOST": f"unix:{path}"}
    variables = {f"RESTBENCH_{name}": value for name, value in settings.items()}
    return start(variables, path.with_suffix(".log"))


@contextmanager
def up(path: Path, process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    try:
        wait_until(lambda: process.poll() is not None or answers(path))
        assert process.poll() is None, path.with_suffix(".log").read_text()
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()


def test_every_framework_serves_on_it_and_ends_in_order(tmp_path: Path) -> None:
    with ExitStack() as stack:
        paths = {name: tmp_path / name for name in FRAMEWORKS}
        started = [(path, begun(path, name)) for name, path in paths.items()]
        for _, process in started:
            stack.callback(process.kill)
        found = [stack.enter_context(up(*each)) for each in started]
        for name, path in paths.items():
            assert json.loads(answer(path, "GET", "/health"))["framework"] == name
            assert answer(path, "POST", "/matrix/serial", SMALL[0]) == SMALL[1]
            assert stat.S_IMODE(path.stat().st_mode) & 0o666 == 0o666, "a proxy is another user"
        for each in found:
            each.terminate()
    assert [each.returncode for each in found] == [0] * len(FRAMEWORKS)


def test_that_of_a_live_service_is_refused_with_its_owner_and_of_a_killed_one_removed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "socket"
    with up(path, begun(path)) as first:
        second = subprocess.run(
            first.args,
            cwd=SERVICE,
            env={**os.environ, "RESTBENCH_HOST": f"unix:{path}"},
            capture_output=True,
            text=True,
            check=False,
        )
        told = f"RESTBENCH_HOST='unix:{path}': in use by python (pid {first.pid})\n"
        assert (second.returncode, second.stderr.replace("gunicorn", "python")) == (1, told)
        assert answers(path)
        first.kill()
        wait_until(lambda: not answers(path))
        assert path.is_socket()
    with up(path, begun(path)):
        assert answer(path, "POST", "/matrix/serial", SMALL[0]) == SMALL[1]


def test_what_is_no_socket_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert not free_socket(str(path))
    path.write_text("precious")
    assert free_socket(str(path)) == "what is no socket"
    assert path.read_text() == "precious"


def test_a_socket_that_takes_no_connection_now_or_ever_is_in_use(tmp_path: Path) -> None:
    for kind, name in ((socket.SOCK_STREAM, "full"), (socket.SOCK_DGRAM, "of datagrams")):
        path = str(tmp_path / name)
        with socket.socket(socket.AF_UNIX, kind) as owner, socket.socket(socket.AF_UNIX) as other:
            owner.bind(path)
            if kind == socket.SOCK_STREAM:
                owner.listen(0)
                other.connect(path)
            assert free_socket(path) == "another process"
            assert Path(path).is_socket()
