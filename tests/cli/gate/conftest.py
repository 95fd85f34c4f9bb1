"""The running server that the gate's command asks."""

from tests.cli.gate.gate_server import guarded

__all__ = ["guarded"]
