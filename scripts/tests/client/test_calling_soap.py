"""The Python client's SOAP: messages by the contract's WSDL, answers and faults as they come."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from calling_service import spoilt
from lxml import etree

from restbench import ROOT
from restbench_client.model import Answer, MalformedAnswer, MatrixProduct, ServiceRefused
from restbench_client.soap import MatrixZeep, NpbZeep

CONTRACT = ROOT / "contract" / "soap"
ENVELOPE = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    "{}</soap:Body></soap:Envelope>"
)
FAULT = (
    "<soap:Fault><faultcode>soap:Client</faultcode><faultstring>rows: too few</faultstring><detail>"
    '<m:requestFault xmlns:m="urn:restbench:matrix"><m:requestId>call-1</m:requestId>'
    "<m:errorCode>004</m:errorCode><m:errorMessage>rows: too few</m:errorMessage>"
    "</m:requestFault></detail></soap:Fault>"
)
PRODUCT = (
    '<m:multiplyResponse xmlns:m="urn:restbench:matrix"><m:product><m:requestId>call-1'
    "</m:requestId><m:row>58,64</m:row><m:row>139,-154</m:row></m:product></m:multiplyResponse>"
)
RESULT = (
    '<n:runResponse xmlns:n="urn:restbench:npb"><n:result><n:requestId>call-0</n:requestId>'
    "<n:kernel>FT</n:kernel><n:class>S</n:class><n:verified>true</n:verified><n:value>1.5</n:value>"
    "<n:value>-2.5E-3</n:value><n:reference>1.5</n:reference><n:iterations>6</n:iterations>"
    "<n:kernelSeconds>0.25</n:kernelSeconds><n:totalSeconds>0.5</n:totalSeconds>"
    "<n:mops>700.5</n:mops></n:result></n:runResponse>"
)


class Described(BaseHTTPRequestHandler):
    """Answers as a service does to who asks for its WSDL."""

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        name = asked.path.rpartition("/")[2]
        wanted = parse_qs(asked.query, keep_blank_values=True)
        body = (CONTRACT / wanted.get("xsd", [f"{name.removesuffix('.xsd')}.wsdl"])[0]).read_bytes()
        if name.endswith(".xsd"):
            body = (CONTRACT / name).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Described) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/soap/matrix/serial?delay=0"
        server.shutdown()


def answer(body: str, status: int = 200) -> Answer:
    return Answer(status, {"content-type": "text/xml"}, ENVELOPE.format(body).encode())


def given() -> dict[str, object]:
    one, two = (
        {"columnCount": columns, "rows": [{"value": row} for row in rows]}
        for columns, rows in ((2, ["1,2"]), (1, ["3", "4"]))
    )
    return {"requestId": "call-1", "matrixOne": one, "matrixTwo": two}


def body_of(message: bytes) -> etree._Element:
    (body,) = etree.fromstring(message).find("{*}Body")
    return body


def test_a_product_is_asked_for_as_the_schema_says(url: str) -> None:
    codec = MatrixZeep(url)
    body = body_of(codec.encode(given()))
    schema = etree.XMLSchema(etree.parse(CONTRACT / "matrix.xsd"))
    assert schema.validate(body), schema.error_log
    assert [each.text for each in body.iter("{*}row")] == ["1,2", "3", "4"]
    assert body.findtext("{*}requestId") == "call-1"


def test_a_product_is_read(url: str) -> None:
    found = MatrixZeep(url).decode(answer(PRODUCT))
    assert found == MatrixProduct("call-1", [[58, 64], [139, -154]])


def test_a_fault_is_a_refusal_with_its_code(url: str) -> None:
    with pytest.raises(ServiceRefused, match="rows: too few") as refused:
        MatrixZeep(url).decode(answer(FAULT, 500))
    assert (refused.value.error_code, refused.value.request_id) == ("004", "call-1")


@pytest.mark.parametrize(
    "said",
    [
        "",
        "<a/>",
        FAULT.replace("errorCode", "other"),
        FAULT.replace(">004<", ">0044<"),
        "<soap:Fault/>",
        "&a;",
        "<a",
    ],
)
def test_what_is_neither_a_product_nor_an_error_is_malformed(url: str, said: str) -> None:
    with pytest.raises(MalformedAnswer):
        MatrixZeep(url).decode(answer(said, 500 if "Fault" in said else 200))
    with pytest.raises(MalformedAnswer):
        MatrixZeep(url).decode(Answer(200, {}, b"no envelope"))


@pytest.mark.parametrize("row", ["139", "139,-154,1", "139,-154,", "", "a,b"])
def test_rows_that_are_no_integers_or_differ_in_length_are_malformed(url: str, row: str) -> None:
    with pytest.raises(MalformedAnswer):
        MatrixZeep(url).decode(answer(PRODUCT.replace("139,-154", row)))


@pytest.mark.parametrize(
    ("codec", "said"), [(MatrixZeep, PRODUCT), (MatrixZeep, FAULT), (NpbZeep, RESULT)]
)
def test_any_change_of_an_answer_is_a_result_a_refusal_or_malformed(url, codec, said) -> None:
    draw, ended, reading = random.Random(27), Counter[str](), codec(url)
    for _ in range(1000):
        whole = answer(said, 500 if said is FAULT else 200)
        try:
            reading.decode(Answer(whole.status, whole.headers, spoilt(whole.body, draw)))
            ended["result"] += 1
        except (ServiceRefused, MalformedAnswer) as failure:
            ended[type(failure).__name__] += 1
    assert ended["MalformedAnswer"] > 500


def test_a_kernel_is_asked_for_and_its_result_has_the_names_of_the_rest_answer(url: str) -> None:
    codec = NpbZeep(url)
    asked = {"requestId": "call-0", "kernel": "FT", "class": "S", "generate": True}
    body = body_of(codec.encode(asked))
    schema = etree.XMLSchema(etree.parse(CONTRACT / "npb.xsd"))
    assert schema.validate(body), schema.error_log
    found = codec.decode(answer(RESULT))
    assert (found["verified"], found["value"], found["kernelSeconds"]) == (
        True,
        [1.5, -0.0025],
        0.25,
    )


def test_a_service_without_a_wsdl_is_said(url: str) -> None:
    with pytest.raises((ValueError, OSError)):
        MatrixZeep("http://127.0.0.1:9/soap/matrix/serial")


def test_a_proxy_of_the_environment_is_not_asked_for_the_wsdl(url: str, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert MatrixZeep(url).headers
