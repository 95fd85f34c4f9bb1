"""Fixtures for tests of the mathematics."""

from tests.support.compiled_library import library, loops

__all__ = ["library", "loops"]
