"""The Java service in SOAP, as a user of zeep meets it: its WSDL, its answers, its faults. Every
strategy and kernel is tried by CXF (`SoapTest.java`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import zeep
from ports import free_port
from zeep.exceptions import Fault

from restbench.deploy import service

pytestmark = pytest.mark.live

MATRIX_ONE = {"columnCount": 3, "row": ["1,2,3", "4,5,6"]}
MATRIX_TWO = {"columnCount": 2, "row": ["7,8", "9,10", "11,12"]}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[service.Service]:
    folder: Path = tmp_path_factory.mktemp("java")
    with service.start("java", "none", None, folder, port=free_port()) as started:
        yield started


def url(of: service.Service, path: str) -> str:
    return "http://{}:{}{}".format(*of.address, path)


def test_zeep_multiplies_at_the_address_that_the_wsdl_names(running: service.Service) -> None:
    client = zeep.Client(url(running, "/soap/matrix?wsdl"))
    product = client.service.multiply("ü<&>", MATRIX_ONE, MATRIX_TWO)
    assert (product.requestId, product.row) == ("ü<&>", ["58,64", "139,154"])


def test_zeep_gets_a_fault_with_the_contract_s_code(running: service.Service) -> None:
    client = zeep.Client(url(running, "/soap/matrix?wsdl"))
    with pytest.raises(Fault) as refused:
        client.service.multiply("a", {"columnCount": 4, "row": ["1,2,3"]}, MATRIX_TWO)
    told = {it.tag.rpartition("}")[2]: it.text for it in refused.value.detail[0]}
    message = "matrixOne.rows[0]: the number of values is 3, columnCount is 4"
    assert told == {"requestId": "a", "errorCode": "004", "errorMessage": message}
    assert refused.value.message == message


@pytest.mark.parametrize(("kernel", "values"), [("IS", 1), ("FT", 12)])
def test_zeep_runs_a_kernel_and_it_is_verified(
    running: service.Service, kernel: str, values: int
) -> None:
    result = zeep.Client(url(running, "/soap/npb?wsdl")).service.run("1", kernel, "S")
    assert result.verified is True
    assert len(result.value) == len(result.reference) == values
    assert result["class"] == "S"
