"""The application as the contract's tests call it: in process, without a server."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import read_settings


@pytest.fixture(scope="session")
def app() -> Flask:
    """The application with its default settings."""
    return create_app(read_settings({}))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
