"""The properties hold on whatever machine: the same examples each time, and no clock."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "any machine",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")
