"""The schemas, the OpenAPI document and the examples say the same."""

import json
import re
import sys
import zlib
from collections import Counter
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from cases import body_of, filled
from conftest import of_each
from jsonschema import Draft202012Validator

sys.set_int_max_str_digits(0)  # some examples have numbers of 5000 digits
CONTRACT = Path(__file__).parents[1]
SCHEMAS: list[dict[str, Any]] = [
    json.loads((CONTRACT / name).read_text())
    for name in (
        "matrix.schema.json",
        "npb.schema.json",
        "logs.schema.json",
        "messages.schema.json",
    )
]
DEFINITIONS: dict[str, Any] = {name: d for s in SCHEMAS for name, d in s["$defs"].items()}
OPENAPI: dict[str, Any] = yaml.safe_load((CONTRACT / "openapi.yaml").read_text())


def named(example: dict[str, Any]) -> dict[str, Any]:
    """With a name for each queue, and one technique; `{strategy}` stays."""
    technique = example.get("techniques", ["skip-locked"])[0]
    return dict(filled(example, {"run": "x0123456789ab", "technique": technique}))


EXAMPLES = {
    path.stem: named(json.loads(path.read_text()))
    for path in (CONTRACT / "examples").glob("*.json")
}
CODES: list[str] = DEFINITIONS["Error"]["properties"]["errorCode"]["enum"]
STATUSES = {
    "001": {422}, "002": {400}, "003": {422}, "004": {422}, "005": {422},
    "006": {422}, "007": {413}, "008": {503}, "009": {404, 405, 415}, "010": {413}, "011": {413},
    "012": {404}, "013": {409}, "014": {503}, "015": {503}, "099": {500},
}  # fmt: skip
GIVEN = {
    None, "body-limit-100", "body-limit-1000", "in-flight-limit-reached", "delay-limit-reached",
    "compute-fault", "memory-held", "memory-limit-100-mib", "operations-limit-1000",
    "loop-operations-limit-1000", "database", "queue-empty", "queue-three", "database-down",
    "database-lost-at-commit", "queue-without-room",
}  # fmt: skip
PLACES = re.compile(r"matrixOne|^sender|^queue(?=: must)|[0-9]+|[A-Z]{5,}|POST")
"""What varies in a message of the README's table: `client` and `after` have the rules of these."""


def form_of(message: str) -> re.Pattern[str]:
    """The messages that a line of the README's table stands for."""
    pieces = [re.escape(piece) for piece in PLACES.split(message)]
    return re.compile("[^ ]+".join(pieces))


def messages() -> dict[str, list[re.Pattern[str]]]:
    """The README's table of messages, by code."""
    found: dict[str, list[re.Pattern[str]]] = {}
    code = ""
    section = (CONTRACT / "README.md").read_text().partition("\n## Messages\n")[2]
    for line in section.partition("\n## ")[0].splitlines():
        if cells := re.match(r"\| ?([0-9]{3})? \| (.*) \|$", line):
            code = cells[1] or code
            found.setdefault(code, []).extend(map(form_of, re.findall("`([^`]+)`", cells[2])))
    return found


MESSAGES = messages()
OPTIONAL = {
    "given", "response", "responseText", "varying", "where", "responseHeaders", "before",
    "techniques", "strategies",
}  # fmt: skip
BODIES = {"body", "bodyText", "bodyBase64"}
#: Codes of requests that are right by themselves.
SOUND = {"ok-", "001", "004", "006", "010", "011", "012", "013", "014", "015"}
every_example = of_each(sorted(EXAMPLES))


@cache
def validator(definition: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": DEFINITIONS})


def workload(name: str) -> str:
    """matrix, npb, logs or messages."""
    first = EXAMPLES[name]["request"]["path"].split("/")[1].split("-")[0]
    return first if first in {"npb", "logs", "messages"} else "matrix"


def route(path: str) -> str:
    """The template of OpenAPI that a path is of, or the path, where it is of none."""
    parts = path.partition("?")[0].split("/")
    if parts[1] != "messages":
        return re.sub("/(serial|{strategy})$", "/{strategy}", "/".join(parts))
    if parts[2:3] == ["serial"]:
        parts[2] = "{strategy}"
    for place, before, placeholder in ((4, "queues", "{queue}"), (6, "messages", "{id}")):
        if len(parts) > place and parts[place - 1] == before and parts[place]:
            parts[place] = placeholder
    return "/".join(parts)


def operation_of(name: str) -> dict[str, Any]:
    """What OpenAPI says of the example's request."""
    request = EXAMPLES[name]["request"]
    return dict(OPENAPI["paths"][route(request["path"])][request["method"].lower()])


def result_of(name: str) -> str:
    """The schema of a success."""
    content = operation_of(name)["responses"]["200"]["content"]["application/json"]
    return str(content["schema"]["$ref"]).rpartition("/")[2]


def parsed(body: bytes) -> Any:
    """The body with 1.0 and 1e0 kept apart from integers, which plain floats are not."""
    return json.loads(body, parse_float=Decimal)


def schema_cannot_see(example: dict[str, Any]) -> bool:
    """A parameter, a path, a string's element beyond 64 bits: outside a JSON Schema."""
    message = example["response"]["errorMessage"]
    if example["request"]["path"].startswith("/messages/"):
        return is_outside_the_body(example)
    beyond_64_bits = re.search(r'"value": ?"-?\d{19,}"', body_of(example["request"]).decode())
    return message.startswith(("kernel:", "delay:")) or beyond_64_bits is not None


def is_outside_the_body(example: dict[str, Any]) -> bool:
    """Of messages: a path, a query, a strategy; a line feed that Python's `$` lets through."""
    path = example["request"]["path"]
    named_wrongly = "?" in path or "/A/" in path or "strategies" in example
    return named_wrongly or "line feed" in example["about"] or "body" not in str(example["request"])


def test_the_schemas_are_valid_json_schema() -> None:
    for schema in SCHEMAS:
        Draft202012Validator.check_schema(schema)
    for schema in OPENAPI["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_openapi_has_the_schemas_of_the_schema_files_word_for_word() -> None:
    moved = json.loads(json.dumps(DEFINITIONS).replace("#/$defs/", "#/components/schemas/"))
    assert {name: OPENAPI["components"]["schemas"][name] for name in moved} == moved


def test_every_reference_of_openapi_leads_somewhere() -> None:
    for reference in re.findall(r'"\$ref": "([^"]+)"', json.dumps(OPENAPI)):
        node = OPENAPI
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


def test_openapi_names_every_error_code() -> None:
    text = json.dumps({"paths": OPENAPI["paths"], "responses": OPENAPI["components"]["responses"]})
    assert [code for code in CODES if code not in text] == []


def test_the_schemas_own_examples_are_valid() -> None:
    for name, definition in DEFINITIONS.items():
        for example in definition.get("examples", []):
            validator(name).validate(example)


def test_every_code_has_an_example() -> None:
    count = Counter(name.split("-")[0] for name in EXAMPLES)
    assert set(count) == {"ok", *CODES}
    assert {EXAMPLES[name]["status"] for name in EXAMPLES if name[:3] == "009"} == STATUSES["009"]


@every_example
def test_the_example_has_the_documented_form(name: str) -> None:
    example = EXAMPLES[name]
    assert set(example) <= {"about", "request", "status", *OPTIONAL}
    assert example.get("given") in GIVEN
    assert set(example["request"]) <= {"method", "path", "headers", *BODIES}
    assert len(BODIES & set(example["request"])) <= 1
    assert ("responseText" in example) != ("response" in example)
    exact = name[:2] == "ok" and "varying" not in example
    assert ("responseText" in example) == exact
    assert set(example.get("varying", ())) <= set(example.get("response", ()))


@every_example
def test_the_example_answers_what_its_name_and_the_schema_say(name: str) -> None:
    example = EXAMPLES[name]
    if name[:2] == "ok":
        assert example["status"] == 200
        if workload(name) == "npb":
            validator("NpbResult").validate(example["response"])
            assert list(example["response"]) == DEFINITIONS["NpbResult"]["required"]
        else:
            text = example.get("responseText") or json.dumps(example["response"])
            validator(result_of(name)).validate(json.loads(text))
    else:
        assert example["response"]["errorCode"] == name[:3]
        assert example["status"] in STATUSES[name[:3]]
        assert ("where" in example) != ("errorMessage" in example["response"])
        validator("Error").validate({"errorMessage": "any", **example["response"]})


@every_example
def test_the_example_s_message_is_of_the_table_in_the_readme(name: str) -> None:
    message = EXAMPLES[name].get("response", {}).get("errorMessage")
    if message is not None:
        forms = MESSAGES[name[:3]]
        assert any(form.fullmatch(message) for form in forms), message


@every_example
def test_the_example_s_route_method_and_status_are_in_openapi(name: str) -> None:
    example = EXAMPLES[name]
    request, status = example["request"], str(example["status"])
    path = route(request["path"])
    if name.startswith("009") and status == "404":
        assert path not in OPENAPI["paths"]
    elif status == "405":
        assert request["method"].lower() not in OPENAPI["paths"][path]
    else:
        assert status in OPENAPI["paths"][path][request["method"].lower()]["responses"]


@of_each([n for n in EXAMPLES if n[:3] in SOUND and EXAMPLES[n]["request"]["method"] == "POST"])
def test_a_request_that_only_its_sizes_can_spoil_is_valid_by_the_schema(name: str) -> None:
    request_of(name).validate(parsed(body_of(EXAMPLES[name]["request"])))


@of_each([n for n in EXAMPLES if n[:3] in {"003", "005"} and not schema_cannot_see(EXAMPLES[n])])
def test_a_request_with_a_wrong_member_or_value_is_invalid_by_the_schema(name: str) -> None:
    assert not request_of(name).is_valid(parsed(body_of(EXAMPLES[name]["request"])))


REQUESTS = {"matrix": "MatrixRequest", "npb": "NpbRequest", "logs": "LogsRequest"}


def request_of(name: str) -> Draft202012Validator:
    if workload(name) == "messages":
        content = operation_of(name)["requestBody"]["content"]["application/json"]
        return validator(content["schema"]["$ref"].rpartition("/")[2])
    if EXAMPLES[name]["request"]["path"].startswith("/npb-mg/"):
        return validator("MgRequest")
    return validator(REQUESTS[workload(name)])


@pytest.mark.parametrize(
    "name", [n for n in sorted(EXAMPLES) if n[:2] == "ok" and workload(n) == "npb"]
)
def test_a_verified_value_is_the_reference_and_the_request_s(name: str) -> None:
    example = EXAMPLES[name]
    request, answer = json.loads(body_of(example["request"])), example["response"]
    assert answer["requestId"] == str(request["requestId"])
    assert answer["class"] == request["class"]
    assert f"/npb-{answer['kernel'].lower()}/" in example["request"]["path"]
    assert answer["verified"] is True
    assert answer["value"] == answer["reference"]


TEN_LINES = {"r16": 2596257181, "r64": 3986211368, "r256": 2063606384, "r1024": 1848691888}


@pytest.mark.parametrize("rules", TEN_LINES)
def test_the_answer_to_ten_drawn_lines_is_the_one_that_four_engines_agree_on(rules: str) -> None:
    example = EXAMPLES[f"ok-logs-{rules}"]
    lines = "\n".join(parsed(body_of(example["request"]))["lines"])
    assert zlib.crc32(lines.encode()) == 3850165942
    assert zlib.crc32(example["responseText"].encode()) == TEN_LINES[rules]
