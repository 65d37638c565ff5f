"""Responses that the server gives by itself, in the contract's form, without asking the app."""

from collections.abc import Mapping
from http import HTTPStatus

from ..errors import RETRY_AFTER, error_body
from ..security_headers import CLOSED

NO_HEADERS: Mapping[str, str] = {}


def refusal(status: HTTPStatus, code: str, message: str) -> bytes:
    """A whole response, after which the connection is closed."""
    body = error_body(code, message)
    headers = {
        "Connection": "close",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **CLOSED,
        **(RETRY_AFTER if code == "008" else NO_HEADERS),
    }
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def busy(what: str) -> bytes:
    """Error 008: `what` says which limit is reached."""
    return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "008", f"{what}, retry later")


def not_received(why: str) -> bytes:
    """Error 002 for a request that is not HTTP, or does not come whole."""
    return refusal(HTTPStatus.BAD_REQUEST, "002", f"the request could not be received {why}")


def fault() -> bytes:
    """Error 099."""
    text = "a fault of the service; its log says more"
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "099", text)
