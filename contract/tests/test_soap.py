"""The WSDLs, their schemas, the examples in SOAP and those in JSON say the same."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import of_each
from lxml import etree

CONTRACT = Path(__file__).parents[1]
FOLDER = CONTRACT / "soap" / "examples"
EXAMPLES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")
}
REST = {path.stem: json.loads(path.read_text()) for path in (CONTRACT / "examples").glob("*.json")}
SCHEMAS = {
    name: etree.XMLSchema(etree.parse(CONTRACT / "soap" / f"{name}.xsd"))
    for name in ("matrix", "npb")
}
OF_BOTH = sorted(EXAMPLES.keys() & REST.keys())
README = (CONTRACT / "README.md").read_text()
NO_MATTER_OF_THE_SCHEMA = re.compile("(ok|00[14567]|01[01]|099)-")
SCHEMA = "does not fit the schema"
#: Of SOAP 1.1.
XML = "{http://schemas.xmlsoap.org/soap/envelope/}"


def payload(example: dict[str, Any]) -> tuple[str, etree._Element]:
    """The service that is asked, and the first element of the body."""
    text = example["request"]["bodyText"].encode()
    body = etree.fromstring(text, etree.XMLParser(huge_tree=True)).find(f"{XML}Body")
    assert body is not None
    return example["request"]["path"].split("/")[2], body.find("*")


def test_there_are_hundreds_with_one_of_every_code_of_matrices_and_kernels() -> None:
    assert len(EXAMPLES) > 300
    codes = {example["response"].get("errorCode", "ok") for example in EXAMPLES.values()}
    assert codes == {"ok", "099", *(f"{number:03}" for number in range(1, 12))}


@of_each(sorted(EXAMPLES))
def test_the_example_is_named_by_its_code_and_has_soap_s_status(name: str) -> None:
    example = EXAMPLES[name]
    code = example["response"].get("errorCode", "ok")
    assert name.startswith(code)
    assert example["request"]["path"].startswith(("/soap/matrix", "/soap/npb"))
    expected = {"ok": {200}, "009": {404, 405, 415}}.get(code, {500})
    assert example["status"] in expected
    codes = {"Client", "VersionMismatch", "MustUnderstand"} if code == "002" else {"Client"}
    assert example.get("faultCode") in ({"Server"} if code in {"008", "099"} else codes | {None})
    assert ("faultCode" in example) == (code != "ok")


@of_each(OF_BOTH)
def test_the_example_s_answer_is_that_of_rest(name: str) -> None:
    soap, rest = EXAMPLES[name], REST[name]
    code = rest.get("response", {}).get("errorCode")
    assert soap["response"].get("errorCode") == code
    message = soap["response"].get("errorMessage", "")
    if code not in {None, "002"} and rest["status"] != 415 and SCHEMA not in message:
        assert message == rest["response"].get("errorMessage", "")
    if "responseText" in rest:
        rows = json.loads(rest["responseText"])["rows"]
        assert soap["response"]["row"] == [",".join(map(str, row)) for row in rows]


@of_each(sorted(EXAMPLES))
def test_a_message_of_an_envelope_is_in_the_readme(name: str) -> None:
    message = EXAMPLES[name]["response"].get("errorMessage", "")
    if name in REST or not name.startswith(("002", "003")):
        return
    shown = re.sub("line [0-9]+, column [0-9]+", "line LINE, column COLUMN", message)
    assert f"`{shown}`" in README


@of_each(sorted(filter(NO_MATTER_OF_THE_SCHEMA.match, EXAMPLES)))
def test_what_the_schema_cannot_refuse_is_valid(name: str) -> None:
    request = EXAMPLES[name]["request"]
    if "bodyText" not in request or "not XML" in request["bodyText"] or "before-002" in name:
        return
    service, message = payload(EXAMPLES[name])
    SCHEMAS[service].assertValid(message)


@of_each([n for n in EXAMPLES if SCHEMA in EXAMPLES[n]["response"].get("errorMessage", "")])
def test_what_does_not_fit_the_schema_is_invalid(name: str) -> None:
    service, message = payload(EXAMPLES[name])
    wrong_payload = message.tag not in {"{urn:restbench:matrix}multiply", "{urn:restbench:npb}run"}
    assert wrong_payload or not SCHEMAS[service].validate(message)


@pytest.mark.parametrize("name", ["matrix", "npb"])
def test_no_type_is_of_numbers_without_a_bound(name: str) -> None:
    types = re.findall('"xs:(.*?)"', (CONTRACT / "soap" / f"{name}.xsd").read_text())
    assert set(types) <= {"string", "long", "int", "double", "boolean"}
