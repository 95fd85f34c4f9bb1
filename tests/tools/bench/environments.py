"""The environment variables of timed processes."""

import os

from service.environment import server_environment
from tests.tools.bench.rows import SERVER


def environment(name: str) -> dict[str, str]:
    """All variables: with the server's, unless they are already set, or without any of them."""
    server = server_environment()
    if name == SERVER:
        return server | os.environ
    return {variable: value for variable, value in os.environ.items() if variable not in server}
