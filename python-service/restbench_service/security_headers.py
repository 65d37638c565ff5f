"""Headers that every response of every route has: nothing here is to be cached, framed or guessed.

The answers are data, so a browser that shows one may load and run nothing (Content-Security-Policy
level 3, Fetch's nosniff). Only the page of the contract loads its own files.
"""

from flask import Flask, Response, request

CLOSED = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""Swagger UI's own: its icons are data: images in its style sheet, its layout sets styles."""


def add_security_headers(app: Flask, page: str) -> None:
    """Give every response the headers; what is below the path `page` may load its own files."""

    def add(response: Response) -> Response:
        response.headers.update(CLOSED)
        if request.path == page or request.path.startswith(f"{page}/"):
            response.headers["Content-Security-Policy"] = PAGE_POLICY
        return response

    app.after_request(add)
