from pathlib import Path

import pytest
from live_service import start

from restbench_service.affinity import allowed_cores
from restbench_service.settings import InvalidSettingError, Settings


def test_the_defaults_hold_when_nothing_is_set() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings("127.0.0.1", 8000, 67_108_864, 256, len(allowed_cores()), None, 1)


def test_every_setting_is_read_from_its_variable() -> None:
    values = ["::1", "8123", "1000", "7", "3", "5", "2"]
    names = [
        "HOST",
        "PORT",
        "MAX_BODY_BYTES",
        "MAX_IN_FLIGHT",
        "PROCESSES",
        "RUNNING",
        "BLAS_THREADS",
    ]
    environment = {f"RESTBENCH_{name}": value for name, value in zip(names, values, strict=True)}
    assert Settings.from_environment(environment) == Settings("::1", 8123, 1000, 7, 3, 5, 2)


@pytest.mark.parametrize("host", ["0.0.0.0", "localhost", "bench-1.example.org", "::1"])  # noqa: S104
def test_an_address_or_a_host_name_is_a_host(host: str) -> None:
    assert Settings.from_environment({"RESTBENCH_HOST": host}).host == host


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("RESTBENCH_PORT", "0", "from 1 to 65535"),
        ("RESTBENCH_PORT", "65536", "from 1 to 65535"),
        ("RESTBENCH_PORT", "80a", "from 1 to 65535"),
        ("RESTBENCH_PORT", "", "from 1 to 65535"),
        ("RESTBENCH_PORT", "٨٠", "from 1 to 65535"),
        ("RESTBENCH_MAX_BODY_BYTES", "-1", "from 1 to 201326592"),
        ("RESTBENCH_MAX_BODY_BYTES", "64MiB", "from 1 to 201326592"),
        ("RESTBENCH_MAX_IN_FLIGHT", "0", "from 1 to 10000"),
        ("RESTBENCH_PROCESSES", "0", "from 1 to 1024"),
        ("RESTBENCH_RUNNING", "0", "from 1 to 10000"),
        ("RESTBENCH_BLAS_THREADS", "1.5", "from 1 to 1024"),
        ("RESTBENCH_HOST", "", "an IP address or a host name"),
        ("RESTBENCH_HOST", "127.0.0.256", "an IP address or a host name"),
        ("RESTBENCH_HOST", "a b", "an IP address or a host name"),
    ],
)
def test_a_bad_value_is_named_with_the_variable_and_what_is_allowed(
    name: str, value: str, rule: str
) -> None:
    with pytest.raises(InvalidSettingError) as error:
        Settings.from_environment({name: value})
    assert name in str(error.value)
    assert repr(value) in str(error.value)
    assert rule in str(error.value)


def test_a_bad_value_ends_the_start_with_one_line_and_code_2(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = start({"RESTBENCH_PORT": "eight"}, log)
    assert process.wait(60) == 2
    assert log.read_text() == "RESTBENCH_PORT='eight': must be an integer from 1 to 65535\n"
