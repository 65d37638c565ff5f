"""Codecs in JSON: matrix products and NAS kernels over REST."""

from __future__ import annotations

import json
from typing import Any

from restbench_client.model import Answer, MalformedAnswer, MatrixProduct, ServiceRefused, is_code


class MatrixJson:
    """Matrix products. The input is the request body: `requestId`, `matrixOne`, `matrixTwo`."""

    content_type = "application/json"

    def encode(self, given: dict[str, Any]) -> bytes:
        """The request body (Codec)."""
        return json.dumps(given, separators=(",", ":")).encode()

    def decode(self, answer: Answer) -> MatrixProduct:
        """The product. Raises ServiceRefused or MalformedAnswer (Codec)."""
        said = _read(answer)
        request_id, rows = said.get("requestId"), said.get("rows")
        if not isinstance(request_id, str) or not isinstance(rows, list) or not _is_grid(rows):
            raise MalformedAnswer("a product without id or rows of integers")
        return MatrixProduct(request_id, rows)


class NpbJson:
    """NAS kernels. The input has `requestId`, `class`, `generate`; the output is the result."""

    content_type = "application/json"

    def encode(self, given: dict[str, Any]) -> bytes:
        """The request body, without `kernel`: the URL names the kernel (Codec)."""
        said = {name: value for name, value in given.items() if name != "kernel"}
        return json.dumps(said, separators=(",", ":")).encode()

    def decode(self, answer: Answer) -> dict[str, Any]:
        """The result. Raises ServiceRefused or MalformedAnswer (Codec)."""
        said = _read(answer)
        if not isinstance(said.get("verified"), bool) or "value" not in said:
            raise MalformedAnswer("a result without verified or value")
        return said


def _read(answer: Answer) -> dict[str, Any]:
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise MalformedAnswer(f"status {answer.status}: no JSON") from error
    if not isinstance(said, dict):
        raise MalformedAnswer(f"status {answer.status}: no JSON object")
    if answer.status == 200:
        return said
    code, message, request_id = map(said.get, ("errorCode", "errorMessage", "requestId"))
    if not is_code(code) or not isinstance(message, str):
        raise MalformedAnswer(f"status {answer.status}: no error of the contract")
    raise ServiceRefused(code, message, None if request_id is None else str(request_id))


def _is_grid(rows: list[Any]) -> bool:
    return bool(rows) and all(
        isinstance(row, list)
        and len(row) == len(rows[0])
        and all(type(value) is int for value in row)
        for row in rows
    )
