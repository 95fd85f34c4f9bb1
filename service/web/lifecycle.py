"""How a server process's worker tells the application that the process is about to stop."""

from threading import Event

DRAINING = Event()
"""Set once the process must stop; it may still take requests for a while."""
