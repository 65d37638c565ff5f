"""The FastAPI application under gunicorn's own ASGI worker on uvloop: FastAPI with workers."""

import os

from fastapi import FastAPI

from ..settings import Settings
from . import NAMELESS
from .fastapi import create_app


def application() -> FastAPI:
    """What gunicorn calls in its worker process; its lifespan starts and ends the core."""
    return create_app(Settings.from_environment(os.environ), NAMELESS)
