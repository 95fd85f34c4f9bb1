"""The running server, as the end-to-end tests start it."""

from tests.e2e.conftest import server

__all__ = ["server"]
