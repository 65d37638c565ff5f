"""Codecs in SOAP: matrix products and NAS kernels. zeep builds the messages from the service's WSDL
and parses the answers; the exchange sends them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import requests
import zeep
from lxml import etree
from zeep.exceptions import Error, Fault
from zeep.helpers import serialize_object

from restbench_client.model import Answer, MalformedAnswer, MatrixProduct, ServiceRefused, is_code

#: Seconds to wait for each piece of a WSDL.
WSDL_S = 30.0
_MALFORMED = (Error, etree.LxmlError, ValueError, TypeError, AttributeError, LookupError)


class _Zeep:
    """The part that both codecs share: one operation of one SOAP service."""

    content_type = "text/xml; charset=utf-8"
    workload: str
    operation: str

    def __init__(self, url: str) -> None:
        """Load the WSDL from the host of `url`, the endpoint.

        Raises OSError where the host cannot be reached, ValueError where it serves no WSDL.
        """
        parts = urlsplit(url)
        session = requests.Session()
        session.trust_env = False  # no proxy of the environment, as for the calls
        transport = zeep.Transport(session=session, timeout=WSDL_S)
        try:
            self._client = zeep.Client(
                f"http://{parts.netloc}/soap/{self.workload}?wsdl", transport=transport
            )
        except (Error, etree.LxmlError) as error:
            raise ValueError(f"url: no WSDL at {parts.netloc}: {error}") from error
        self._binding = self._client.service._binding
        self._operation = self._binding.get(self.operation)

    @property
    def headers(self) -> dict[str, str]:
        """The HTTP headers of each request."""
        return {"SOAPAction": f'"{self._operation.soapaction}"'}

    def _message(self, **fields: Any) -> bytes:
        envelope = self._client.create_message(self._client.service, self._operation.name, **fields)
        made: bytes = etree.tostring(envelope, xml_declaration=True, encoding="utf-8")
        return made

    def _answered(self, answer: Answer) -> Any:
        reply = SimpleNamespace(  # the attributes that zeep reads
            status_code=answer.status,
            headers=requests.structures.CaseInsensitiveDict(answer.headers),
            content=answer.body,
            encoding="utf-8",
        )
        try:
            return self._binding.process_reply(self._client, self._operation, reply)
        except Fault as fault:
            raise _refused(fault) from fault
        except _MALFORMED as error:
            raise MalformedAnswer(f"status {answer.status}: {error}") from error


class MatrixZeep(_Zeep):
    """Matrix products. The input has the form of the REST request body."""

    workload, operation = "matrix", "multiply"

    def encode(self, given: dict[str, Any]) -> bytes:
        """The request envelope (Codec)."""
        operands = {
            name: {
                "columnCount": given[name]["columnCount"],
                "row": [row["value"] for row in given[name]["rows"]],
            }
            for name in ("matrixOne", "matrixTwo")
        }
        return self._message(requestId=given["requestId"], **operands)

    def decode(self, answer: Answer) -> MatrixProduct:
        """The product. Raises ServiceRefused or MalformedAnswer (Codec)."""
        said = self._answered(answer)
        try:
            rows = [list(map(int, row.split(","))) for row in said.row]
            product = MatrixProduct(said.requestId, rows)
        except (AttributeError, TypeError, ValueError) as error:
            raise MalformedAnswer(f"status {answer.status}: no product") from error
        if len({*map(len, rows)}) != 1:
            raise MalformedAnswer("a product whose rows differ in length")
        return product


class NpbZeep(_Zeep):
    """NAS kernels. The output has the member names of the REST answer."""

    workload, operation = "npb", "run"

    def encode(self, given: dict[str, Any]) -> bytes:
        """The request envelope, which names the kernel (Codec)."""
        return self._message(**{**given, "requestId": str(given["requestId"])})

    def decode(self, answer: Answer) -> dict[str, Any]:
        """The result. Raises ServiceRefused or MalformedAnswer (Codec)."""
        said = serialize_object(self._answered(answer), dict)
        if not isinstance(said, dict) or not isinstance(said.get("verified"), bool):
            raise MalformedAnswer(f"status {answer.status}: no result")
        return said


def _refused(fault: Fault) -> Exception:
    texts = {
        etree.QName(each).localname: each.text
        for each in (fault.detail.iter(etree.Element) if etree.iselement(fault.detail) else ())
    }
    if not is_code(texts.get("errorCode")):
        return MalformedAnswer(f"a fault without a code of three digits: {fault.message}")
    return ServiceRefused(texts["errorCode"], str(fault.message), texts.get("requestId"))
