"""The application in process."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import read_settings

MAX_BODY_BYTES = 1000


@pytest.fixture(scope="session")
def app() -> Flask:
    return create_app(read_settings({"ROCPR_MAX_BODY_BYTES": str(MAX_BODY_BYTES)}))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
