"""`python -m tests.tools.costs`: what small requests cost, measured in a process prepared like a server's."""

import sys

from service.environment import prepare_process

if __name__ == "__main__":
    prepare_process()  # before NumPy is imported
    from tests.tools.costs.search import main

    sys.exit(main())
