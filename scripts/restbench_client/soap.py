"""Matrices and kernels in SOAP, by zeep: it makes messages by the service's WSDL and reads answers;
how they are sent is the exchange's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import requests
import zeep
from lxml import etree
from zeep.exceptions import Error, Fault
from zeep.helpers import serialize_object

from restbench_client.model import Answer, MalformedAnswer, MatrixProduct, ServiceRefused


@dataclass(frozen=True)
class _Reply:
    """What zeep wants to know of an answer."""

    status_code: int
    headers: requests.structures.CaseInsensitiveDict[str]
    content: bytes
    encoding: str = "utf-8"


class _Zeep:
    """One operation of one service."""

    content_type = "text/xml; charset=utf-8"

    def __init__(self, url: str, workload: Literal["matrix", "npb"], operation: str) -> None:
        """`url` of the endpoint; the WSDL is read here. OSError or ValueError where it is none."""
        parts = urlsplit(url)
        try:
            self._client = zeep.Client(f"http://{parts.netloc}/soap/{workload}?wsdl")
        except (Error, etree.LxmlError) as error:
            raise ValueError(f"url: no WSDL at {parts.netloc}: {error}") from error
        self._binding = self._client.service._binding
        self._operation = self._binding.get(operation)

    @property
    def headers(self) -> dict[str, str]:
        """Of each request."""
        return {"SOAPAction": f'"{self._operation.soapaction}"'}

    def _message(self, **fields: Any) -> bytes:
        envelope = self._client.create_message(self._client.service, self._operation.name, **fields)
        made: bytes = etree.tostring(envelope, xml_declaration=True, encoding="utf-8")
        return made

    def _answered(self, answer: Answer) -> Any:
        headers = requests.structures.CaseInsensitiveDict(answer.headers)
        reply = _Reply(answer.status, headers, answer.body)
        try:
            return self._binding.process_reply(self._client, self._operation, reply)
        except Fault as fault:
            raise _refused(fault) from fault
        except (
            Error,
            etree.LxmlError,
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
        ) as error:
            raise MalformedAnswer(f"status {answer.status}: {error}") from error


class MatrixZeep(_Zeep):
    """Products; what is asked has the form of the REST request."""

    def __init__(self, url: str) -> None:
        """As _Zeep."""
        super().__init__(url, "matrix", "multiply")

    def encode(self, given: dict[str, Any]) -> bytes:
        """The message."""
        operands = {
            name: {
                "columnCount": given[name]["columnCount"],
                "row": [row["value"] for row in given[name]["rows"]],
            }
            for name in ("matrixOne", "matrixTwo")
        }
        return self._message(requestId=given["requestId"], **operands)

    def decode(self, answer: Answer) -> MatrixProduct:
        """The product; ServiceRefused or MalformedAnswer."""
        said = self._answered(answer)
        try:
            rows = [[int(value) for value in row.split(",")] for row in said.row]
            return MatrixProduct(said.requestId, rows)
        except (AttributeError, TypeError, ValueError) as error:
            raise MalformedAnswer(f"status {answer.status}: no product") from error


class NpbZeep(_Zeep):
    """Kernels; the result has the names of the REST answer."""

    def __init__(self, url: str) -> None:
        """As _Zeep."""
        super().__init__(url, "npb", "run")

    def encode(self, given: dict[str, Any]) -> bytes:
        """The message, which says the kernel."""
        return self._message(**{**given, "requestId": str(given["requestId"])})

    def decode(self, answer: Answer) -> dict[str, Any]:
        """The result; ServiceRefused or MalformedAnswer."""
        said = serialize_object(self._answered(answer), dict)
        if not isinstance(said, dict) or not isinstance(said.get("verified"), bool):
            raise MalformedAnswer(f"status {answer.status}: no result")
        return said


def _refused(fault: Fault) -> Exception:
    texts = {
        etree.QName(each).localname: each.text
        for each in (fault.detail.iter(etree.Element) if etree.iselement(fault.detail) else ())
    }
    if not texts.get("errorCode"):
        return MalformedAnswer(f"a fault without an error code: {fault.message}")
    return ServiceRefused(texts["errorCode"], str(fault.message), texts.get("requestId"))
