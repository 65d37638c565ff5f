"""The response to a request that was computed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from flask import Response
from werkzeug.datastructures import Headers
from werkzeug.wsgi import ClosingIterator

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

JSON = "application/json"


class Answer(Response):
    """JSON in one piece, sent as it is.

    Werkzeug would go through the headers twice more, for redirects, cookies and empty answers.
    """

    def __init__(self, body: bytes, server_timing: str) -> None:
        """Status 200; the header Server-Timing says what each stage took."""
        headers = Headers()
        headers["Server-Timing"] = server_timing
        super().__init__(body, headers=headers, content_type=JSON)

    def __call__(
        self,
        environ: "WSGIEnvironment",  # noqa: ARG002
        start_response: "StartResponse",
    ) -> Iterable[bytes]:
        """As WSGI has it. The routes that answer so take POST alone, so that there is a body."""
        start_response(self.status, self.headers.to_wsgi_list())
        return ClosingIterator(self.iter_encoded(), self.close)
