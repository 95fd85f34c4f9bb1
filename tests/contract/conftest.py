"""The application for the contract's tests: in process, without a server."""

import sys
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import read_settings
from service.wire.answers import png

# jsonschema checks international addresses with it, which no test asks for; to import it takes 1.5 seconds.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # as Python notes what cannot be imported


@pytest.fixture(scope="package", autouse=True)
def _all_media_types() -> Iterator[None]:
    """The contract has PNG; nothing is drawn here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(png, "is_drawn", lambda: True)
        yield


@pytest.fixture(scope="package")
def app(_all_media_types: None) -> Flask:
    """The application with its default settings."""
    return create_app(read_settings({}))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
