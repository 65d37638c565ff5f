"""The runs that the repository keeps."""

from __future__ import annotations

#: By kept run how the name of its picture begins.
PICTURES = {
    "adaptive": "F1-ratios",
    "calls": "calls-java",
    "calls-growth": "calls-java",
    "calls-seconds": "calls-java",
    "factorial": "factorial-effects",
    "frameworks": "frameworks-",
    "instances": "instances-java",
    "messages-factorial": "factorial-effects",
    "messages": "messages-technique",
    "messages-faults": "faults-times",
    "messages-rate": "messages-ratios",
    "messages-sizes": "messages-technique",
    "messages-threads": "messages-threads",
    "messages-trace": "trace-java",
    "npb": "npb-cost",
    "reference": "overview",
    "workers": "workers-fastapi-gunicorn-logs-one-kept",
}
