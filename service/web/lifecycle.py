"""What the worker of a server process tells the application: that the process is about to stop."""

from threading import Event

DRAINING = Event()
"""Set once, when the process has to stop; it may still take requests for a while."""
