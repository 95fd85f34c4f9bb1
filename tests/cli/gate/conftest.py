"""The running server for the gate's command."""

from tests.cli.gate.gate_server import guarded

__all__ = ["guarded"]
